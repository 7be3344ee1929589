"""Looking inside: capture what a model attends to and expects on one input, as plain records."""

from regard.look.capture import look
from regard.look.records import Look, Map
from regard.look.subject import Subject, open_run
from regard.look.way import way

__all__ = ["Look", "Map", "Subject", "look", "open_run", "way"]
