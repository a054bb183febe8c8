"""Whether they may: from a user and a request to a decision.

Read `access_decisions` first (may this user do this), then `impersonation` (acting as somebody
else), `role_write_checks` (nobody grants what they lack) and `access_reviews` (how a client asks
what somebody may do). The rules of roles are in `celadon.kube.rbac`. Upstream: k8s.io/apiserver
`pkg/authorization`, `pkg/endpoints/filters`; k8s.io/kubernetes `pkg/registry/{authorization,rbac}`.
"""
