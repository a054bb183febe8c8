"""The words of Kubernetes: names, metadata, paths, Status, who asks; and doors to all else.

Pure data and rules over plain JSON objects: nothing here talks to a server, reads a clock or
changes an object it was given. Modules whose functions read best with the module's name in front
(`metadata.labels(obj)`, `status.not_found(...)`, `fieldpath.required(...)`,
`name_rules.dns1123_label(...)`) are exported as modules, and so is `well_known_values`. The rest of
the room is behind doors of its own:

    resources    the resources a server knows
    schemas      the structure of every API type
    defaulting   what an object looks like when admission sees it
    validation   why an API server would refuse it
    crd          the same for kinds that CustomResourceDefinitions define
    registry     writes: bodies, options and patches
    fieldmanager server-side apply, and who owns which fields
    protobuf     objects as Go clients send them
    selectors    label and field selectors
    rbac         role-based access control
    quantity     `500m`, `1.5Gi`
    jsonpath     `.spec.items[0]`
    library      the functions Kubernetes adds to CEL, by release
    go           texts and numbers as Go reads and prints them

Read `names` first, then `resources` and `defaulting`.
"""

from celadon.kube import fieldpath, metadata, name_rules, status, well_known_values
from celadon.kube.authorization import (
    ANY_VERSION,
    MASTERS,
    Answer,
    Attributes,
    AuthorizerBackend,
    Ruling,
    User,
)
from celadon.kube.errors import KubeError
from celadon.kube.fieldpath import ErrorType, FieldError, FieldPath, NamedText
from celadon.kube.json_types import Json, JsonObject
from celadon.kube.names import (
    ApiVersionError,
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    parse_api_version,
)
from celadon.kube.status import Status, StatusCause, StatusDetails, StatusError

__all__ = [
    "ANY_VERSION",
    "MASTERS",
    "Answer",
    "ApiVersionError",
    "Attributes",
    "AuthorizerBackend",
    "ErrorType",
    "FieldError",
    "FieldPath",
    "GroupKind",
    "GroupResource",
    "GroupVersion",
    "GroupVersionKind",
    "GroupVersionResource",
    "Json",
    "JsonObject",
    "KubeError",
    "NamedText",
    "Ruling",
    "Status",
    "StatusCause",
    "StatusDetails",
    "StatusError",
    "User",
    "fieldpath",
    "metadata",
    "name_rules",
    "parse_api_version",
    "status",
    "well_known_values",
]
