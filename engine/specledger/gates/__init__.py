"""Governors: gates that judge the predicted next state, admission of documents, commitments, tokens."""
