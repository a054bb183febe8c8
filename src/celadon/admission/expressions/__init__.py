"""Expressions of policies and webhooks: compiled, given their variables, run within budgets.

`compiled_expressions` says what they may name, `activation` what the names stand for on a request,
`metering` how they run, `match_conditions` decides whether a policy or webhook cares.
"""
