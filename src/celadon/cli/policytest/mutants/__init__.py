"""Policies with one thing changed (`celadon test --mutate`), and which changes their tests notice.

`policy_mutants` has the ways in which a node of an expression is changed, all that is changed
besides, for a policy and its bindings, and shows one as a difference of files.
`canonical_expressions` says which expressions come to the same. Another word than mutation, because
policies that mutate objects have that one.

`policy_stages` are the tests of a policy, where their cases meet a changed one. What no case
notices may be proved to make no difference by `canonical_expressions`, or is searched for a request
that tells the two apart: first with requests of `request_pool`, then with all `input_combinations`.
From that a case is made. `mutant_runs` does all of it.
"""
