"""The ground floor: serialising, hashing, trees, randomness, places, findings, facts and verdicts; no domain words."""
