"""What an agent means: its memory, its proposals, their scores and claims, computed from observations alone.

Decides what is proposed. Refuses to know the state of the world, the governor, and whatever is not in the observation.
"""
