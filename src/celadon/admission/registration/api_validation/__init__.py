"""API validation of registration objects, in upstream's order and words.

`kind_validation` says which function answers for which kind; `policy_parts`, `match_rules`,
`condition_validation` and `client_config` are what kinds share. `param_access` asks whether a
writer may refer to its params.
"""
