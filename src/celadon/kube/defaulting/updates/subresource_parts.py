"""What an update through a subresource may change of the object above it.

Of an update to `status`, and of what an ordinary one leaves of the status, the data pack speaks;
`scale` shows an object of its own. The others are here. As the strategies of k8s.io/kubernetes
`pkg/registry/{core/pod,core/namespace,certificates/certificates}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.json_copies import fresh
from celadon.records import dataclass

IDENTITY: Final = ("name", "namespace", "uid", "resourceVersion", "managedFields")
"""The metadata that counts as sent even where nothing else does."""


@dataclass(frozen=True, slots=True)
class Parts:
    """With `only`, nothing else is taken from what was sent; else everything is but `kept`.

    Paths are dotted; `[*]` stands for the items of a list, paired by their position.
    """

    only: tuple[str, ...] | None = None
    kept: tuple[str, ...] = ()


EVERYTHING: Final = Parts()

_CONTAINER_FIELDS: Final = ("resources", "resizePolicy")

PARTS: Final[Mapping[tuple[str, str], Parts]] = {
    ("Pod", "ephemeralcontainers"): Parts(only=("spec.ephemeralContainers",)),
    ("Pod", "resize"): Parts(
        only=(
            "spec.resources",
            *(f"spec.containers[*].{field}" for field in _CONTAINER_FIELDS),
            *(f"spec.initContainers[*].{field}" for field in _CONTAINER_FIELDS),
        )
    ),
    ("Namespace", "finalize"): Parts(kept=("status",)),
    ("CertificateSigningRequest", "approval"): Parts(kept=("spec", "status.certificate")),
}
"""By kind and subresource."""


def only_parts(sent: Mapping[str, Any], old: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    """The old object with the parts that an update may change, and the sent identity."""
    made: dict[str, Any] = fresh(old)
    given = sent.get("metadata") or {}
    meta = made.setdefault("metadata", {})
    for key in IDENTITY:
        _take(meta, given, [key])
    for path in parts.only or ():
        _take(made, sent, path.split("."))
    return made


def _take(made: object, sent: object, names: list[str]) -> None:
    """Puts into `made` what `sent` has at a path."""
    if not isinstance(made, dict) or not isinstance(sent, dict):
        return
    name, rest = names[0], names[1:]
    if name.endswith("[*]"):
        key = name.removesuffix("[*]")
        for mine, theirs in zip(made.get(key) or (), sent.get(key) or (), strict=False):
            _take(mine, theirs, rest)
    elif rest:
        _take(made.setdefault(name, {}), sent.get(name), rest)
    elif sent.get(name) is None:
        made.pop(name, None)
    else:
        made[name] = fresh(sent[name])
