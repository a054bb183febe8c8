"""Empty lists and maps that were sent, put back for validation."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.writes.sent_empties import with_empties

INGRESS = GroupVersionKind("networking.k8s.io", "v1", "Ingress")
POD = GroupVersionKind("", "v1", "Pod")


@pytest.mark.parametrize(
    ("kind", "made", "sent", "want"),
    [
        (INGRESS, {"spec": {}}, {"spec": {"rules": []}}, {"spec": {"rules": []}}),
        (
            POD,
            {"spec": {"containers": [{"name": "c"}, {"name": "d"}]}},
            {"spec": {"containers": [{"name": "c"}, {"name": "d", "env": [], "args": ["a"]}]}},
            {"spec": {"containers": [{"name": "c"}, {"name": "d", "env": []}]}},
        ),
        (
            POD,
            {"metadata": {"name": "p"}},
            {"metadata": {"name": "p", "labels": {}, "wrong": []}},
            {"metadata": {"name": "p", "labels": {}}},
        ),
    ],
)
def test_what_is_put_back(kind: GroupVersionKind, made: Any, sent: Any, want: Any) -> None:
    assert with_empties(made, sent, kind) == want


@pytest.mark.parametrize(
    ("made", "sent"),
    [
        ({"spec": {"containers": [{"name": "c"}]}}, {"spec": {"containers": [{"name": "c"}]}}),
        ({}, {"spec": {"containers": []}}),
        ({"spec": {"containers": [{}]}}, {"spec": {"containers": [{"env": []}, {}]}}),
        ({"spec": {"securityContext": {}}}, {"spec": {"securityContext": {}, "affinity": {}}}),
    ],
)
def test_where_nothing_is_to_be_put_back(made: Any, sent: Any) -> None:
    assert with_empties(made, sent, POD) is made


def test_custom_kinds_stay_as_they_are() -> None:
    made: dict[str, Any] = {"spec": {}}
    kind = GroupVersionKind("example.com", "v1", "Thing")
    assert with_empties(made, {"spec": {"a": []}}, kind) is made
