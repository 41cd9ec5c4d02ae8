"""The exact evaluator and the values it works on."""
