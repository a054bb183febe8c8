"""The options of a connection (`pods/exec`, `services/proxy`, …): what admission sees of it.

They come in the query, or are what follows the subresource in the path. Flags that are off are left
out. As k8s.io/kubernetes `pkg/apis/core/v1/zz_generated.conversion.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celadon.kube.names import GroupVersionKind


@dataclass(frozen=True, slots=True)
class OptionFields:
    """The members of an options kind, by how their values are read."""

    flags: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    has_path: bool = False


_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")
_PROXY: Final = OptionFields(has_path=True)

OPTIONS: Final[Mapping[str, OptionFields]] = {
    "PodAttachOptions": OptionFields(flags=_STREAMS, texts=("container",)),
    "PodExecOptions": OptionFields(flags=_STREAMS, texts=("container",), lists=("command",)),
    "PodPortForwardOptions": OptionFields(integers=("ports",)),
    "NodeProxyOptions": _PROXY,
    "PodProxyOptions": _PROXY,
    "ServiceProxyOptions": _PROXY,
}


def connect_options(
    kind: GroupVersionKind, query: Mapping[str, Sequence[str]], path: str = ""
) -> dict[str, Any]:
    """`path` is what follows the subresource, without a slash before it."""
    fields = OPTIONS.get(kind.kind, OptionFields())
    made: dict[str, Any] = {"kind": kind.kind, "apiVersion": kind.api_version}
    for name in fields.flags:
        if (query.get(name) or [""])[0].lower() in {"1", "t", "true"}:
            made[name] = True
    for name in fields.texts:
        if (query.get(name) or [""])[0]:
            made[name] = query[name][0]
    for name in fields.lists:
        if query.get(name):
            made[name] = list(query[name])
    for name in fields.integers:
        numbers = [int(text) for text in query.get(name) or () if text.isdecimal()]
        if numbers:
            made[name] = numbers
    if fields.has_path and path:
        made["path"] = f"/{path}"
    return made
