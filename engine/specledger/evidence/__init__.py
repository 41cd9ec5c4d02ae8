"""Evidence of a run: events folded into a hash chain of receipts, summed into a result, and written as a bundle.

Decides the form of a receipt, of the manifest and of the bundle's folder. Refuses to know how events came about:
nothing here imports the loop, so that a chain can be checked without the engine.
"""
