"""Options of connections."""

from __future__ import annotations

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.writes.intake.connect_options import connect_options

ROWS: list[tuple[str, dict[str, list[str]], str, dict[str, object]]] = [
    (
        "PodExecOptions",
        {"command": ["ls", "-l"], "container": ["c"], "stdin": ["1"], "tty": ["false"]},
        "",
        {"stdin": True, "container": "c", "command": ["ls", "-l"]},
    ),
    ("PodAttachOptions", {"command": ["ls"], "stdout": ["true"]}, "", {"stdout": True}),
    ("PodPortForwardOptions", {"ports": ["80", "x", "81"]}, "", {"ports": [80, 81]}),
    ("ServiceProxyOptions", {"path": ["ignored"]}, "a/b", {"path": "/a/b"}),
    ("PodProxyOptions", {}, "", {}),
]


@pytest.mark.parametrize(("kind", "query", "path", "members"), ROWS)
def test_options(
    kind: str, query: dict[str, list[str]], path: str, members: dict[str, object]
) -> None:
    found = connect_options(GroupVersionKind("", "v1", kind), query, path)
    assert found == {"kind": kind, "apiVersion": "v1", **members}
