"""What a probe means: an offer that breaks a rule, or a challenge of stated reasons, made on clones, and its verdict.

Decides what is asked, drawn and compared, and what that amounts to: pass, fail or inconclusive. Refuses to know how an
agent chooses and how a world changes: a `ProbeTarget` is handed in. Nothing here changes the run that is probed.
"""
