"""Tools of an agent: lists of them, what can be told of them from logs, and the specs that are begun with them."""
