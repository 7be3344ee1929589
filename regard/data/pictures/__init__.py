"""Pictures: read from files and bytes, brought to a size, kept in a store, changed at random while training."""
