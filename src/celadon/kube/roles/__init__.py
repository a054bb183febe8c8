"""Role-based access control: who may do what by Roles, ClusterRoles and their bindings.

Read `policy_rules` (one rule and what it allows), `role_index` (stored objects by the subjects they
bind), `role_authorizer` (the answers), `bootstrap_roles` (what a new server has), and
`rule_covering` for whether somebody who grants rights has them. Upstream: k8s.io/kubernetes
`plugin/pkg/auth/authorizer/rbac`, `pkg/registry/rbac` and k8s.io/component-helpers
`auth/rbac/validation`.
"""

from celadon.kube.authorization import service_account_of, service_account_user
from celadon.kube.roles.bootstrap_roles import bootstrap_roles
from celadon.kube.roles.policy_rules import PolicyRule, policy_rules, quoted_list
from celadon.kube.roles.role_authorizer import RbacAuthorizer, aggregated
from celadon.kube.roles.role_index import (
    Grant,
    RoleIndex,
    RoleRef,
    role_ref,
    role_selectors,
)
from celadon.kube.roles.rule_covering import compacted, uncovered

__all__ = [
    "Grant",
    "PolicyRule",
    "RbacAuthorizer",
    "RoleIndex",
    "RoleRef",
    "aggregated",
    "bootstrap_roles",
    "compacted",
    "policy_rules",
    "quoted_list",
    "role_ref",
    "role_selectors",
    "service_account_of",
    "service_account_user",
    "uncovered",
]
