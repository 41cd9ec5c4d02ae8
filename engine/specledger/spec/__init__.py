"""The pydantic models of the documents of every kind: shapes, defaults and simple bounds."""
