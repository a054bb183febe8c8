"""A first test for a policy, found by search (`celadon test init`).

`first_policy` finds the policy and the definitions beside it, and what there is to be found,
`wanted_values` which values would make expressions true or false (ways), `read_places` what the
expressions read and compare with, and `case_search` tries objects until each rule has had one
against it.
"""
