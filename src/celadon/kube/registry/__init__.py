"""Writes: what happens to an object between a client's bytes and admission, and after.

`create`, `update`, `patch` and `delete` are the four ways, each with its steps at the head. What
they have in common: `decoded_object` (an object on its way, and where it goes), `request_bodies`
(bodies and options as they come, and a body to a draft), `strategy` (what is special about a kind:
validation, warnings), and the subresource `scale`. The kinds of patches: `patches` (JSON patches
and merge patches), `strategic_merge` (which lists are merged), `three_way_merge` (what `kubectl
apply` sends).

All of it is pure: refusals are `StatusError`s with upstream's texts, the cluster is a `Lookups`,
time, uid and random text are in the `DefaultingContext`. A server puts it around its store in
`celadon.apiserver.handlers.write`, the commands judge by it.
"""

from celadon.kube.registry import create, delete, patch, request_bodies, update
from celadon.kube.registry.decoded_object import (
    Draft,
    Target,
    drafted,
    require_namespace,
    shown_object,
    stored_form,
    stored_object,
)
from celadon.kube.registry.patches import (
    JsonPatchError,
    apply_json_patch,
    apply_merge_patch,
    patch_between,
    read_patch,
)
from celadon.kube.registry.request_bodies import (
    Incoming,
    NotConverted,
    WriteOptions,
    draft_of,
    read_mutated,
    require_version,
)
from celadon.kube.registry.strategy import (
    Strategy,
    Surroundings,
    repeated_owner_warnings,
    strategy_of,
    valid_warnings,
    write_errors,
    write_warnings,
)

__all__ = [
    "Draft",
    "Incoming",
    "JsonPatchError",
    "NotConverted",
    "Strategy",
    "Surroundings",
    "Target",
    "WriteOptions",
    "apply_json_patch",
    "apply_merge_patch",
    "create",
    "delete",
    "draft_of",
    "drafted",
    "patch",
    "patch_between",
    "read_mutated",
    "read_patch",
    "repeated_owner_warnings",
    "request_bodies",
    "require_namespace",
    "require_version",
    "shown_object",
    "stored_form",
    "stored_object",
    "strategy_of",
    "update",
    "valid_warnings",
    "write_errors",
    "write_warnings",
]
