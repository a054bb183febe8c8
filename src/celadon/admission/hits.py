"""What matching comes to: a `Hit`, or an error of the policy, binding or webhook.

Apart from `matching` because the variables of expressions depend on the hit, while matching asks
the request's context for labels.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import (
    FieldPath,
    GroupVersionKind,
    GroupVersionResource,
    StatusError,
    fieldpath,
)
from celadon.records import dataclass

NAMESPACES: Final = "namespaces"


class MatchError(Exception):
    """Matching failed: a configuration error of the policy or binding, `failure` to the client of a
    webhook. `path` leads to the selector that could not be used, from the match constraints or
    resources on."""

    def __init__(self, failure: StatusError, path: FieldPath = fieldpath.ROOT) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.path = path


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule that covers the target: as which resource and kind, for which names (None: all)."""

    resource: GroupVersionResource
    kind: GroupVersionKind
    names: frozenset[str] | None = None
