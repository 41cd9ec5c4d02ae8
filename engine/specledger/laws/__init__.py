"""Laws of ring automata: what a universe and a law say, how a law is tried on cases, and what its verdict is.

Decides the meaning of universes, templates and candidate laws, evolves and judges cases, and turns what it found into a
verdict. Refuses to know who proposed a law, files, and evidence. Source: law proposer, sections 5, 6 and 13.
"""
