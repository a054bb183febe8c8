"""The `admissionregistration.k8s.io` resources: types, decoding, defaults, validation, strategies.

Read `types` and `kinds` (the table of the six), then `decode` with `documents` and `defaults`.
`validation` says everything that is wrong with an object; the modules it names do it kind by kind,
with the help of `object_meta`, `rules`, `match_conditions` and `client_config`. `param_access` asks
whether a writer may refer to its params. A server reads requests with `bodies` and prepares objects
with `strategy`; `table` and `member_order` are for its answers.
"""
