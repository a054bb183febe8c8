"""What cases reach in policies, and in which ways.

`coverage_goals` says what there is to reach, `goal_reaching` what one evaluation has reached,
`coverage_tally` takes case after case. Nothing of it is loaded, and nothing is traced, without
`--coverage`.
"""
