"""Options of connections."""

from __future__ import annotations

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.intake.connect_options import connect_options

ROWS: list[tuple[str, dict[str, list[str]], str, dict[str, object]]] = [
    (
        "PodExecOptions",
        {"command": ["ls", "-l"], "container": ["c"], "stdin": ["1"], "tty": ["False"]},
        "",
        {"stdin": True, "container": "c", "command": ["ls", "-l"]},
    ),
    (
        "PodExecOptions",
        {"command": [""], "container": [""], "stdin": [""], "stdout": ["maybe"], "tty": ["0"]},
        "",
        {"stdin": True, "stdout": True, "command": [""]},
    ),
    ("PodAttachOptions", {"command": ["ls"], "stdout": ["true"]}, "", {"stdout": True}),
    ("PodPortForwardOptions", {"ports": ["80,443", "81"]}, "", {"ports": [80, 443, 81]}),
    ("ServiceProxyOptions", {"path": ["ignored"]}, "/a/b/", {"path": "/a/b/"}),
    ("PodProxyOptions", {}, "", {}),
]


@pytest.mark.parametrize(("kind", "query", "path", "members"), ROWS)
def test_options(
    kind: str, query: dict[str, list[str]], path: str, members: dict[str, object]
) -> None:
    found = connect_options(GroupVersionKind("", "v1", kind), query, path)
    assert found == {"kind": kind, "apiVersion": "v1", **members}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", 'parsing "x": invalid syntax'),
        ("-1", 'parsing "-1": invalid syntax'),
        ("80,", 'parsing "": invalid syntax'),
        ("65536", 'parsing "65536": value out of range'),
    ],
)
def test_ports_that_are_none(text: str, why: str) -> None:
    with pytest.raises(ValueError, match="cannot convert") as refused:
        connect_options(GroupVersionKind("", "v1", "PodPortForwardOptions"), {"ports": [text]})
    assert str(refused.value) == f"cannot convert to []int32: strconv.ParseUint: {why}"
