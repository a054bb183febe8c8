"""`celadon migrate`: policies of other engines in, policies of Kubernetes and a report out.

Read `migration_run` first: documents to translations, their tests, and the files that are written.
`engine_verdicts` puts recorded requests to translations. `migration_plan` is for a whole cluster:
what is there, in which order it can move, what exists that speaks against it, and whether the old
engine has said the same.
"""
