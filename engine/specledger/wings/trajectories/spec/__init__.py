"""The models of documents that the wing trajectories reads."""
