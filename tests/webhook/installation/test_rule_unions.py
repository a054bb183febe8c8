"""Unions of rules take what the rules take, and can be written down."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.admission.registration import Rule
from celadon.webhook.webhook_rules import ANY, OPERATIONS, union_of_rules

GROUPS, VERSIONS = ["", "apps"], ["v1", "v1beta1"]
RESOURCES = ["pods", "pods/exec", "deployments", "deployments/scale"]


def some(values: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    listed = st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True)
    return st.just((ANY,)) | listed.map(tuple)


RULES = st.builds(
    Rule,
    some(list(OPERATIONS)),
    some(GROUPS),
    some(VERSIONS),
    some(RESOURCES)
    | st.sampled_from([("*/*",), ("pods/*",), ("*/scale",), ("*", "pods/exec"), ("*/exec", "*")]),
    st.sampled_from([None, "*", "Namespaced", "Cluster"]),
)


def takes(rule: Rule, request: tuple[str, str, str, str, str]) -> bool:
    operation, group, version, resource, scope = request
    name, _, below = resource.partition("/")
    return (
        bool({ANY, operation} & set(rule.operations))
        and bool({ANY, group} & set(rule.api_groups))
        and bool({ANY, version} & set(rule.api_versions))
        and (rule.scope or ANY) in {ANY, scope}
        and any(
            one in {ANY, name} and sub in {ANY, below}
            for one, _, sub in (entry.partition("/") for entry in rule.resources)
        )
    )


REQUESTS = st.tuples(
    st.sampled_from(OPERATIONS),
    st.sampled_from(GROUPS),
    st.sampled_from(VERSIONS),
    st.sampled_from(RESOURCES),
    st.sampled_from(["Namespaced", "Cluster"]),
)


@given(st.lists(RULES, max_size=4), REQUESTS)
def test_a_union_takes_the_same(rules: list[Rule], request: Any) -> None:
    expected = any(takes(rule, request) for rule in rules)
    assert any(takes(rule, request) for rule in union_of_rules(rules)) == expected


@given(st.lists(RULES, max_size=4))
def test_a_star_stands_alone_and_nothing_twice(rules: list[Rule]) -> None:
    found = union_of_rules(rules)
    for rule in found:
        for values in (rule.operations, rule.api_groups, rule.api_versions):
            assert ANY not in values or values == (ANY,)
        assert len(rule.resources) == 1 or ANY not in "".join(rule.resources)
    assert union_of_rules(found) == found


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (
            [
                Rule(("CREATE",), ("apps",), ("v1",), ("deployments",)),
                Rule(("UPDATE", "CREATE"), ("apps",), ("v1",), ("deployments", "daemonsets")),
            ],
            [Rule(("CREATE", "UPDATE"), ("apps",), ("v1",), ("deployments", "daemonsets"), "*")],
        ),
        (
            [
                Rule(("CREATE",), ("apps",), ("v1",), ("deployments",)),
                Rule(("*",), ("apps",), ("*",), ("*/*",)),
            ],
            [Rule(("*",), ("apps",), ("*",), ("*/*",), "*")],
        ),
    ],
)
def test_unions(rules: list[Rule], expected: list[Rule]) -> None:
    assert list(union_of_rules(rules)) == expected
