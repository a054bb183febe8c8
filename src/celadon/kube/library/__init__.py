"""The function libraries that Kubernetes adds to CEL, one module each, and who has them since when.

`environments` makes the environment of a release, from one table. `costs` has the short way to
declare a function, the costs that several libraries share, and what Kubernetes charges for
functions of the language. The other modules end in `LIBRARY`, or in several. What the functions do
is mostly not here: the rules of Go's packages are in `kube.go`, `kube.quantity` and (addresses)
`cel.values.netaddr`.
"""

from celadon.kube.library.authz import Authorizer
from celadon.kube.library.costs import (
    AUTHORIZER,
    MESSAGE_EXPRESSION_BYTES,
    OUT_OF_BUDGET,
    PER_CALL_COST,
    RESOURCE_CHECK,
    RUNTIME_COST_BUDGET,
)
from celadon.kube.library.environments import environment, first_releases
from celadon.kube.library.format_and_regex import NamedFormat
from celadon.kube.library.ip_cidr_url import CIDR, IP
from celadon.kube.library.json_patches import PatchObject, PatchOperation, unwrapped
from celadon.kube.library.quantity_functions import ParsedQuantity
from celadon.kube.library.semver import Semver
from celadon.kube.releases import parse_version, previous_minor

__all__ = [
    "AUTHORIZER",
    "CIDR",
    "IP",
    "MESSAGE_EXPRESSION_BYTES",
    "OUT_OF_BUDGET",
    "PER_CALL_COST",
    "RESOURCE_CHECK",
    "RUNTIME_COST_BUDGET",
    "Authorizer",
    "NamedFormat",
    "ParsedQuantity",
    "PatchObject",
    "PatchOperation",
    "Semver",
    "environment",
    "first_releases",
    "parse_version",
    "previous_minor",
    "unwrapped",
]
