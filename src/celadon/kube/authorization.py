"""The question that an authorizer is asked (`Attributes`), and its answer.

Upstream: k8s.io/apiserver `pkg/authorization/authorizer`. Whoever evaluates policies brings an
`AuthorizerBackend`; the CEL library `authz` and an API server ask it the same questions.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from celadon.kube import name_rules
from celadon.kube.selectors import FieldSelector, LabelSelector
from celadon.kube.well_known_values import SERVICE_ACCOUNT_PREFIX
from celadon.records import dataclass, field

#: What the version of a resource is where it does not matter.
ANY_VERSION: Final = "*"

MASTERS: Final = "system:masters"
"""The group whose members may do everything."""

SERVICE_ACCOUNTS: Final = "system:serviceaccounts"


class Ruling(enum.Enum):
    """Is what an authorizer answers; only ALLOW allows."""

    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"


@dataclass(frozen=True, slots=True)
class User:
    """Is who asks: the name, the groups and the rest of a Kubernetes user."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class Attributes:
    """Holds what an authorizer is asked.

    Either `path` is set, or `resource_request` is true and the fields of a resource are. Of a
    selector that cannot be understood, only the error is there.
    """

    user: User
    verb: str
    path: str = ""
    resource_request: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: FieldSelector | None = None
    field_selector_error: str = ""
    label_selector: LabelSelector | None = None
    label_selector_error: str = ""

    @property
    def identity(self) -> Hashable:
        """Return a key that is the same for two questions with the same answer."""
        user = self.user
        extra = tuple(sorted((key, tuple(sorted(values))) for key, values in user.extra.items()))
        return (
            (user.name, user.uid, tuple(sorted(user.groups)), extra),
            (self.verb, self.path, self.resource_request),
            (self.group, self.version, self.resource, self.subresource),
            (self.namespace, self.name),
            (str(self.field_selector), self.field_selector_error),
            (str(self.label_selector), self.label_selector_error),
        )


Answer: TypeAlias = tuple[Ruling, str, str | None]
"""The ruling, its reason, and the text of an error if there was one."""


class AuthorizerBackend(Protocol):
    """Whoever decides. An error may come with any ruling."""

    def authorize(self, attributes: Attributes) -> Answer: ...


def service_account_user(namespace: str, name: str) -> User:
    """Return the user with the groups of service accounts only: without `system:authenticated`, and
    without extras."""
    groups = (SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}")
    return User(f"{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}", groups)


def service_account_of(name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account that has this user name; None for others."""
    if not name.startswith(SERVICE_ACCOUNT_PREFIX):
        return None
    parts = name.removeprefix(SERVICE_ACCOUNT_PREFIX).split(":")
    if len(parts) != 2:
        return None
    namespace, account = parts
    if name_rules.dns1123_label(namespace) or name_rules.dns1123_subdomain(account):
        return None
    return namespace, account
