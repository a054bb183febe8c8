"""Checked tree to Python source. Read `emitter`, then `plain` (the fast variant), then `metered`,
then `counted`, which is between them.

Theory of operation. Functions are generated from one tree, each when it is first needed.

`plain` is what a careful person would write by hand on dicts and lists. It is *optimistic*: it
assumes that nothing goes wrong, and where something does (a missing key, an unexpected type, an
operand that is no bool) some Python exception is raised and the metered function decides. CEL
expressions are pure, so evaluating again from the start is always allowed. That removes all error
handling from the fast path: it needs no absorption rules, no error texts and no positions.
INVARIANT (plain agrees): if `plain` returns a value, `metered` returns the same one.

`metered` is exact: errors are values in local variables, every step is charged as cel-go charges
it, in cel-go's order. It decides every error and every cost.

`counted` is optimistic as well, and adds up what is charged. Where something goes wrong, or the
cost is over the limit, the metered function decides.
INVARIANT (counted agrees): if `counted` returns a value and a cost, `metered` returns the same.
"""
