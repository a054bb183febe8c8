"""A first test for a policy, found by search (`celadon test init`).

`read_places` says what the expressions read and compare with, `seed_objects` what to begin with,
`case_search` tries objects until each validation has refused one, `first_file` writes them down.
"""
