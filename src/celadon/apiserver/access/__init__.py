"""Who asks, and whether they may.

Read `identities` (well-known users and groups), `authentication` (from a request's credentials to a
user), `impersonation` (acting as somebody else), `access_decisions` (may this user do this),
`initial_objects` (what a new server has besides roles), `role_write_checks` (nobody grants what
they lack), then the reviews: `access_reviews`, `identity_reviews`, `token_requests`.

Everything takes values: the time is an argument, stored objects are looked up through
`StoredObjects`. Upstream: k8s.io/apiserver `pkg/authentication`, `pkg/authorization`,
`pkg/endpoints/filters`; k8s.io/kubernetes `pkg/registry/{authentication,authorization,rbac}`.
"""
