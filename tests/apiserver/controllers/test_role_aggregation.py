"""The rules of roles that collect them from others."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.controllers.system_objects import aggregated_rules

A, B, C = ({"verbs": [verb], "apiGroups": [""], "resources": ["pods"]} for verb in "abc")


def role(name: str, *rules: Any, selectors: Any = None, **labels: str) -> dict[str, Any]:
    made: dict[str, Any] = {"metadata": {"name": name, "labels": labels}, "rules": list(rules)}
    if selectors is not None:
        made["aggregationRule"] = {"clusterRoleSelectors": selectors}
    return made


@pytest.mark.parametrize(
    ("selectors", "rules"),
    [
        ([{"matchLabels": {"to": "x"}}], [A, B]),
        ([{"matchLabels": {"to": "y"}}, {"matchLabels": {"to": "x"}}], [C, A, B]),
        ([{"matchLabels": {"to": "nobody"}}], []),
        ([{"matchExpressions": [{"key": "to", "operator": "Bad"}]}], []),
        ([], None),
    ],
)
def test_rules_come_from_the_roles_that_are_selected(selectors: Any, rules: Any) -> None:
    own = role("own", C, selectors=selectors, to="x")
    others = [role("2", A, B, to="x"), role("3", C, A, to="y"), role("1", A, to="x")]
    assert aggregated_rules(own, [own, *others]) == rules
