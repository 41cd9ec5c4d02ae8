"""Evidence: events sealed into a hash chain of receipts, summarised in a result, and written as a bundle.

Nothing here imports the episode loop, so a chain can be checked without the engine. What the operating system refuses
raises OSError; a fold raises KeyError, TypeError or ValueError at a receipt that lacks what its type must have.
"""
