"""The only hole in determinism: answers from outside, recorded on a tape and read back from it."""
