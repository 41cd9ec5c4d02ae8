"""Formats of logs that are data: a reader is made of a document of the kind `format`."""
