"""Policies with one thing changed: what users know as mutants (`celadon test --mutate`).

`policy_mutants` has the ways in which a node of an expression is changed, all that is changed
besides, for a policy and its bindings, and shows one as a difference of files.
`canonical_expressions` says which expressions come to the same. Another word than mutation, because
policies that mutate objects have that one.
"""
