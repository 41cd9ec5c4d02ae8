"""What a world, a map and a drift mean: their specs as executable, pure functions over plain JSON states.

Decides state types, start states, guarded commands, parts, observations, and the named field functions that expressions
may call. Refuses to know agents, governors, receipts, or the order of a run.
"""
