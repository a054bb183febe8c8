"""A first test for a policy, found by search (`celadon test init`).

`first_policy` finds the policy and the definitions beside it, `search_subject` what there is to be
found, `read_places` says what the expressions read and compare with, `seed_objects` what to begin
with, `case_search` tries objects until each rule has had one against it, `first_file` writes them
down.
"""
