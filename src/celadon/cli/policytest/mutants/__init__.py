"""Policies with one thing changed: what users know as mutants (`celadon test --mutate`).

`mutated_expressions` has the ways in which a node of an expression is changed, and makes texts of
the changed trees; `canonical_expressions` says which of them come to the same. `policy_mutants` are
those and all that is changed besides, for a policy and its bindings; `mutated_files` shows one as a
difference of files. Another word than mutation, because
policies that mutate objects have that one.
"""
