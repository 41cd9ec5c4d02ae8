"""What a governor means: gates judged on the recomputed next state, the choice, commitments and capabilities.

Decides which proposals are admitted and what acting requires. Refuses to know how proposals come about, and how the
state is predicted: a predictor is handed in.
"""
