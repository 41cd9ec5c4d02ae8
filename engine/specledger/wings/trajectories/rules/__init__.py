"""Rules over trajectories: from a policy to outcomes at calls and messages."""
