"""Authorization: from a user and a request to a decision.

Read `authorizer_chain` first (may this user do this), then `impersonation` (acting as somebody
else) and `escalation_checks` (nobody grants what they lack). How a client asks what somebody may do
is in `handlers/reviews`. The rules of roles are in `celadon.kube.rbac`. Upstream: k8s.io/apiserver
`pkg/authorization`, `pkg/endpoints/filters`; k8s.io/kubernetes `pkg/registry/{authorization,rbac}`.
"""
