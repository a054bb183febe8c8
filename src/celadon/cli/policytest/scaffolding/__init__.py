"""A first test for a policy, found by search (`celadon test init`).

`wanted_values` says which values would make expressions true or false (ways), `read_places` what
the expressions read and compare with, and `case_search` tries objects until each rule has had one
against it.
"""
