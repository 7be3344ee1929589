"""Pictures and pages from plain records: no tensors, no models, no network. The one front end of report and studio."""
