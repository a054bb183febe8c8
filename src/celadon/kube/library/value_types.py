"""The types that Kubernetes adds to CEL.

Two are abstract types that can be named in an expression (`type(x) == net.IP`). The others are
object types without fields that no expression can name, as upstream declares them.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.extend import types

CIDR: Final = types.opaque("net.CIDR")
IP: Final = types.opaque("net.IP")

NAMED_FORMAT: Final = types.object_type("kubernetes.NamedFormat")
QUANTITY: Final = types.object_type("kubernetes.Quantity")
SEMVER: Final = types.object_type("kubernetes.Semver")
URL: Final = types.object_type("kubernetes.URL")

AUTHORIZER: Final = types.object_type("kubernetes.authorization.Authorizer")
"""Of the variable `authorizer`."""
DECISION: Final = types.object_type("kubernetes.authorization.Decision")
GROUP_CHECK: Final = types.object_type("kubernetes.authorization.GroupCheck")
PATH_CHECK: Final = types.object_type("kubernetes.authorization.PathCheck")
RESOURCE_CHECK: Final = types.object_type("kubernetes.authorization.ResourceCheck")
"""Of the variable `authorizer.requestResource`."""
