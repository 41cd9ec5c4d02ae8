"""The discovery loop: a model proposes laws, trials judge them, and the next prompt reports the results."""
