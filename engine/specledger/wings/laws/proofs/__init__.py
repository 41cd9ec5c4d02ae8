"""Exact proofs and refutations of laws of ring automata, for every ring, every admitted start and every step.

`specledger.wings.laws.verify.certificates` checks a certificate without this package. Sources: Hattori and Takesue,
Physica D 49 (1991); Moreira, Boccara and Goles, Theor. Comput. Sci. 325 (2004); docs/proofs.md has the formats.

A law becomes a question like this (`E` an `Additive`, `Linear(terms, op, bound)` an atom over `Term(coefficient, E,
at)`):

| law | claim |
| --- | --- |
| invariant `E(t) == E(0)`, or monotone | `Conserved(E)`, `Monotone(E, "<=")` |
| invariant, bound or implication_state | `Always(condition)` with every `at` 0, or None for the initial state |
| implication_step | `Always(implies(P, Q))`, P at 0 and Q at 1 |
| eventually | `Eventually(P, Q, H)`, P and Q at 0 |
| symmetry_commutation, local_transition | `Commutes(reflect, shift, symbol_map)`, `Local(trigger, results)` |
| anything over observables that are not additive | `Opaque(name, span, holds)` |

`prove(question)` gives one of `Proved`, `Refuted`, `ProvedUpTo` and `Undecided`. Work is counted, never timed, so
that the same question has the same verdict on every machine.
"""
