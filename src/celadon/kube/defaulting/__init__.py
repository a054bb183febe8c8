"""Defaulting: what an object looks like when admission sees it.

A server does a lot to an object between its arrival and the moment a policy looks at it. Read
`stages` for the order, `rules` for how the rules of the data pack become functions, `functions`,
`pods`, `services`, `workloads` and `plugins` for what cannot be said in a rule, `context` for what
the caller decides.
"""
