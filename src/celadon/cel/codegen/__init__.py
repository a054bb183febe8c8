"""Checked tree to Python source. Read `emitter`, then `plain` (the fast variant), then `metered`.

Theory of operation. Two functions are generated from one tree.

`plain` is what a careful person would write by hand on dicts and lists. It is *optimistic*: it
assumes that nothing goes wrong, and where something does (a missing key, an unexpected type, an
operand that is no bool) some Python exception is raised and the metered function decides. CEL
expressions are pure, so evaluating again from the start is always allowed. That removes all error
handling from the fast path: it needs no absorption rules, no error texts and no positions.
INVARIANT (plain agrees): if `plain` returns a value, `metered` returns the same one.

`metered` is exact: errors are values in local variables, every step is charged as cel-go charges
it, in cel-go's order. It decides every error and every cost.
"""
