"""Which endpoints and kinds rules stand for."""

from __future__ import annotations

import pytest

from celadon.admission.lint.lint_context import matched_kinds, matched_resources, operations_of
from celadon.admission.registration.registration_types import MatchResources, Rule
from celadon.kube.resources import known_resources

CATALOG = known_resources()


def rule(*resources: str, group: str = "apps") -> Rule:
    return Rule(("CREATE",), (group,), ("v1",), resources)


ENDPOINTS: list[tuple[str, tuple[str, ...], set[str]]] = [
    ("a resource", ("deployments",), {"deployments"}),
    ("a subresource", ("deployments/scale",), {"deployments/scale"}),
    ("all of a resource", ("deployments/*",),
     {"deployments", "deployments/scale", "deployments/status"}),
    ("a subresource of all", ("*/scale",),
     {"deployments/scale", "replicasets/scale", "statefulsets/scale"}),
    ("both, once", ("deployments", "deployments/*"),
     {"deployments", "deployments/scale", "deployments/status"}),
    ("every resource", ("*",),
     {"controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"}),
    ("nothing", ("deployment", "scale"), set()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("resources", "expected"), [pytest.param(*row[1:], id=row[0]) for row in ENDPOINTS]
)
def test_endpoints(resources: tuple[str, ...], expected: set[str]) -> None:
    found = matched_resources(rule(*resources), CATALOG)
    shown = [f"{one.gvr.resource}/{below}".rstrip("/") for one, below in found]
    assert len(shown) == len(set(shown))
    assert set(shown) == expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        (("deployments",), ["Deployment"]),
        (("deployments/scale",), ["Scale"]),
        (("deployments/*",), ["Deployment", "Scale"]),
        (("deployments/*", "deployments"), ["Deployment", "Scale"]),
    ],
)
def test_kinds(resources: tuple[str, ...], expected: list[str]) -> None:
    found = matched_kinds(MatchResources(resource_rules=(rule(*resources),)), CATALOG)
    assert sorted(kind.kind for kind in found) == expected


def test_kinds_of_everything() -> None:
    everything = Rule(("*",), ("*",), ("*",), ("*/*",))
    found = matched_kinds(MatchResources(resource_rules=(everything,)), CATALOG)
    assert {"Pod", "Eviction", "Binding", "Deployment", "Scale"} <= {kind.kind for kind in found}
    assert operations_of([everything]) == {"CREATE", "UPDATE", "DELETE", "CONNECT"}
    assert matched_kinds(None, CATALOG) == ()


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([("CREATE",), ("UPDATE",)], {"CREATE", "UPDATE"}),
        ([("CREATE", "PATCH")], {"CREATE"}),
        ([("CREATE",), ("*",)], {"CREATE", "UPDATE", "DELETE", "CONNECT"}),
        ([], set()),
    ],
)
def test_operations(operations: list[tuple[str, ...]], expected: set[str]) -> None:
    rules = [Rule(named, ("",), ("v1",), ("pods",)) for named in operations]
    assert operations_of(rules) == expected
