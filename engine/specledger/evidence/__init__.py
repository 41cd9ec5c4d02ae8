"""Evidence: events sealed into a hash chain of receipts, summarised in a result, and written as a bundle.

Nothing here imports the episode loop, so a chain can be checked without the engine.
"""
