"""Policies: which of them a request concerns, what they decide, how they change objects.

`validating` is the engine of validating policies; it finds candidates with `matching`, gives each
its params (`params`) and evaluates it (`compiled_policy`). `mutating` is the engine
of mutating policies, on top of the same; `compiled_mutations` and `patchers` are one mutation.
`typecheck` warns of expressions that cannot be right for the types they look at.
"""
