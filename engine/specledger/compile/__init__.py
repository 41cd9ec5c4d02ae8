"""From a bundle of resolved specs to a plan: calls the rooms that know what each kind means, and checks that they fit.

Decides what is compiled with what. Refuses to know the order of a step and the form of evidence.
"""
