"""What a write carries besides an object: bodies, options, patches, warnings."""

from celadon.kube.writes import request_bodies, request_options, warning_texts
from celadon.kube.writes.patches import (
    JsonPatchError,
    JsonPatchTestFailed,
    apply_json_patch,
    apply_merge_patch,
)

__all__ = [
    "JsonPatchError",
    "JsonPatchTestFailed",
    "apply_json_patch",
    "apply_merge_patch",
    "request_bodies",
    "request_options",
    "warning_texts",
]
