"""`celadon migrate`: policies of other engines in, policies of Kubernetes and a report out.

Read `migration_run` first: documents to translations, and their tests. `migration_files` writes
them, `recorded_verdicts` puts recorded requests to them. `migration_plan` is for a whole cluster:
what is there (`plan_sources`, `plan_cluster`), in which order it can move, what exists that speaks
against it, and whether the old engine has said the same (`old_verdicts`).
"""
