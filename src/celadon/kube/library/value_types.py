"""The types that Kubernetes adds to CEL.

Two are abstract types that can be named in an expression (`type(x) == net.IP`). The others are
object types without fields that no expression can name, as upstream declares them.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.types import object_type, opaque

CIDR: Final = opaque("net.CIDR")
IP: Final = opaque("net.IP")

NAMED_FORMAT: Final = object_type("kubernetes.NamedFormat")
QUANTITY: Final = object_type("kubernetes.Quantity")
SEMVER: Final = object_type("kubernetes.Semver")
URL: Final = object_type("kubernetes.URL")

AUTHORIZER: Final = object_type("kubernetes.authorization.Authorizer")
DECISION: Final = object_type("kubernetes.authorization.Decision")
GROUP_CHECK: Final = object_type("kubernetes.authorization.GroupCheck")
PATH_CHECK: Final = object_type("kubernetes.authorization.PathCheck")
RESOURCE_CHECK: Final = object_type("kubernetes.authorization.ResourceCheck")
