"""Custom resources: what an API server does with objects whose kind a CRD defines.

Read in the order in which an object meets them: `structural` (the schema), `defaulting`, `pruning`,
`values` (OpenAPI validation; its texts are in `texts`, its formats in `formats`), `list_types`
(unique items), `rules` and `rule_validation` (`x-kubernetes-validations`), and `kinds`, which puts
them together for one kind. `definitions` is about writing the CRD itself.
"""
