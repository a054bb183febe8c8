"""Which changes of a policy its tests notice, and what would notice the others.

`policy_stages` are the tests of a policy, where their cases meet a changed one. What no case
notices may be proved to make no difference by `mutants.canonical_expressions`, or is searched for a
request that tells the two apart: first with requests of `request_pool`, then with all
`input_combinations`. From that a case is made. `mutant_runs` does all of it.
"""
