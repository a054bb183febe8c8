"""The options of a connection (`pods/exec`, `services/proxy`, …): what admission sees of it.

They come in the query, or are what follows the subresource in the path. Flags that are off are left
out. As k8s.io/kubernetes `pkg/apis/core/v1/zz_generated.conversion.go` and k8s.io/apimachinery
`pkg/apis/meta/v1/conversion.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.kube.go.go_strconv import parse_uint
from celadon.kube.names import GroupVersionKind
from celadon.records import dataclass

_PORT_BITS: Final = 16


@dataclass(frozen=True, slots=True)
class OptionFields:
    """The members of an options kind, by how their values are read."""

    flags: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    has_path: bool = False


_STREAMS: Final = ("stdin", "stdout", "stderr", "tty")
_PROXY: Final = OptionFields(has_path=True)

OPTIONS: Final[Mapping[str, OptionFields]] = {
    "PodAttachOptions": OptionFields(flags=_STREAMS, texts=("container",)),
    "PodExecOptions": OptionFields(flags=_STREAMS, texts=("container",), lists=("command",)),
    "PodPortForwardOptions": OptionFields(ports=("ports",)),
    "NodeProxyOptions": _PROXY,
    "PodProxyOptions": _PROXY,
    "ServiceProxyOptions": _PROXY,
}


def connect_options(
    kind: GroupVersionKind, query: Mapping[str, Sequence[str]], path: str = ""
) -> dict[str, Any]:
    """`path` is what follows the subresource, with the slash before it. Raises ValueError for
    ports that are none, with upstream's text."""
    fields = OPTIONS.get(kind.kind, OptionFields())
    made: dict[str, Any] = {"kind": kind.kind, "apiVersion": kind.api_version}
    for name in fields.flags:
        if query.get(name) and flag(query[name][0]):
            made[name] = True
    for name in fields.texts:
        if query.get(name) and query[name][0]:
            made[name] = query[name][0]
    for name in fields.lists:
        if query.get(name):
            made[name] = list(query[name])
    for name in fields.ports:
        if query.get(name):
            made[name] = [_port(part) for text in query[name] for part in text.split(",")]
    if fields.has_path and path:
        made["path"] = path
    return made


def flag(text: str) -> bool:
    """Go's reading of a boolean parameter that is there: neither `0` nor a form of `false`."""
    return text != "0" and text.lower() != "false"


def _port(text: str) -> int:
    try:
        return parse_uint(text, _PORT_BITS)
    except ValueError as error:
        raise ValueError(f"cannot convert to []int32: {error}") from None
