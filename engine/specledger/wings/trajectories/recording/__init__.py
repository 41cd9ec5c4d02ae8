"""Recordings: agents whose calls stand in logs. Each trajectory is an episode, each call of it a step."""
