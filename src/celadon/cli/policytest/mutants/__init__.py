"""Policies with one thing changed: what users know as mutants (`celadon test --mutate`).

`expression_changes` has the ways in which a node of an expression is changed, `altered_expressions`
makes texts of the changed trees, `canonical_expressions` says which of them come to the same.
`field_changes` has all that is changed besides. `alterations` are both, for a policy and its
bindings; `altered_files` shows one as a difference of files. Another word than mutation, because
policies that mutate objects have that one.
"""
