"""The models of the documents of the wing."""
