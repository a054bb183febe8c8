"""Expressions of policies and webhooks: compiled, given their variables, run within budgets.

`compiled_expressions` says what they may name, of which types, and how they run: match conditions,
which decide whether a policy or webhook cares, and variables, which are computed when they are
first read. `activation` says what the names stand for on a request.
"""
