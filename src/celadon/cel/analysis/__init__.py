"""Analyses of checked trees, before anything runs.

`constant_folding` computes constant parts, `estimator` and `cost_bound` say what an evaluation may
cost, `tree_context` holds it all for the generators, and recognises forms that run faster written
in one go: chains of fields, and comprehensions of a few shapes.
"""
