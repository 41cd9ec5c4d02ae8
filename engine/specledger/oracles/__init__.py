"""Answers from outside, the only input that specs do not determine: models and agents, recorded and replayed."""
