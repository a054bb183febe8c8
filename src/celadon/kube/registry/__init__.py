"""The one way in: what happens to an object between a client's bytes and admission, and after.

Read `write_path` first: it says which steps there are, in which order. Before them stand
`write_targets` (where a write goes), `intake` (a body to a draft, options) and `patching` (a patch
and the old object to a draft). Between them `object_places`, `preconditions` and
`write_strategies` (what is special about a kind: validation, warnings). `deletions` and `scales`
have ways of their own.

All of it is pure: refusals are `StatusError`s with upstream's texts, the cluster is a `Lookups`,
time, uid and random text are in the `DefaultingContext`.
"""

from celadon.kube.registry import (
    deletions,
    preconditions,
    write_path,
)
from celadon.kube.registry.intake import request_bodies, request_options
from celadon.kube.registry.intake.connect_options import connect_options
from celadon.kube.registry.intake.delete_bodies import read_delete_options
from celadon.kube.registry.decode import (
    Incoming,
    draft_of,
    read_object,
    require_version,
    stray_fields,
)
from celadon.kube.registry.intake.mutated_objects import OtherKind, read_mutated
from celadon.kube.registry.request_options import WriteOptions
from celadon.kube.registry.patching.patch_documents import read_patch
from celadon.kube.registry.patching.patch_making import patch_between
from celadon.kube.registry.patch import (
    APPLY_PATCH,
    Patched,
    patch_type,
    patched,
    read_patched,
    three_way_patched,
)
from celadon.kube.registry.patching.patches import (
    JsonPatchError,
    apply_json_patch,
)
from celadon.kube.registry.strategy import Strategy, Surroundings, strategy_of, write_errors
from celadon.kube.registry.target import Target

__all__ = [
    "APPLY_PATCH",
    "Incoming",
    "JsonPatchError",
    "OtherKind",
    "Patched",
    "Strategy",
    "Surroundings",
    "Target",
    "WriteOptions",
    "apply_json_patch",
    "connect_options",
    "deletions",
    "draft_of",
    "patch_between",
    "patch_type",
    "patched",
    "preconditions",
    "read_delete_options",
    "read_mutated",
    "read_object",
    "read_patch",
    "read_patched",
    "request_bodies",
    "request_options",
    "require_version",
    "strategy_of",
    "stray_fields",
    "three_way_patched",
    "write_errors",
    "write_path",
]
