"""The conjecture loop: a model proposes laws, trials judge them, and what was learnt goes into the next question."""
