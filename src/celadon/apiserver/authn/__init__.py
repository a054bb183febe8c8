"""Authentication: from the credentials of a request to a user.

Read `authentication` first (certificates, tokens and what becomes of them), then `identities`
(well-known users and groups) and `service_account_tokens` (tokens that the server signs itself; how
a client asks for one is in `handlers/reviews`). Everything takes values: the time is an argument.
Upstream: k8s.io/apiserver `pkg/authentication`, k8s.io/kubernetes `pkg/serviceaccount`.
"""
