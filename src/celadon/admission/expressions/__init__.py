"""Expressions of policies and webhooks: compiled, given their variables, run within budgets.

`compiled_expressions` says what they may name and how they run, `activation` what the names stand
for on a request, `match_conditions` decides whether a policy or webhook cares, and has the
variables that are computed when they are first read. `declared_types` are the types of what they
may name.
"""
