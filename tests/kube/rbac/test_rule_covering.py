"""Which permissions somebody lacks, and how they are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.authorization import Attributes, User
from celadon.kube.rbac import PolicyRule, compacted, single_permissions, uncovered


def pods(
    *verbs: str, names: tuple[str, ...] = (), resources: tuple[str, ...] = ("pods",)
) -> PolicyRule:
    return PolicyRule(verbs, ("",), resources, names)


def urls(*paths: str, verb: str = "get") -> PolicyRule:
    return PolicyRule((verb,), non_resource_urls=paths)


@pytest.mark.parametrize(
    ("owned", "wanted", "missing"),
    [
        ([pods("get")], pods("get"), []),
        ([pods("get")], pods("get", "list"), [pods("list")]),
        ([pods("*")], pods("get"), []),
        ([pods("get"), pods("list")], pods("get", "list"), []),
        ([pods("get")], pods("*"), [pods("*")]),
        ([pods("get", names=("a",))], pods("get"), [pods("get")]),
        ([pods("get", names=("a",))], pods("get", names=("a", "b")), [pods("get", names=("b",))]),
        ([pods("get")], pods("get", names=("a",)), []),
        ([pods("get", resources=("*",))], pods("get", resources=("pods/exec",)), []),
        ([pods("get", resources=("*/exec",))], pods("get", resources=("pods/exec",)), []),
        (
            [pods("get", resources=("*/exec",))],
            pods("get", resources=("pods",)),
            [pods("get", resources=("pods",))],
        ),
        (
            [pods("get")],
            pods("get", resources=("pods/exec",)),
            [pods("get", resources=("pods/exec",))],
        ),
        ([urls("/a/*")], urls("/a/b", "/a/*", "/b"), [urls("/b")]),
        ([urls("*")], urls("/a"), []),
        ([pods("get")], urls("/a"), [urls("/a")]),
    ],
)
def test_what_is_lacking(
    owned: list[PolicyRule], wanted: PolicyRule, missing: list[PolicyRule]
) -> None:
    assert uncovered(owned, [wanted]) == missing


def test_verbs_of_one_resource_come_together() -> None:
    assert compacted([pods("get"), urls("/a"), pods("list"), pods("get", names=("a",))]) == [
        urls("/a"),
        pods("get", "list"),
        pods("get", names=("a",)),
    ]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (pods("get", "list"), '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'),
        (urls("/a"), '{NonResourceURLs:["/a"], Verbs:["get"]}'),
        (
            pods("get", names=("a",)),
            '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}',
        ),
    ],
)
def test_how_a_rule_is_named(rule: PolicyRule, text: str) -> None:
    assert str(rule) == text


words = st.sampled_from(["*", "a", "b", "a/x", "*/x"])
several = st.lists(words, min_size=1, max_size=3).map(tuple)
rules = st.builds(PolicyRule, several, several, several, st.just(()) | several)


@given(rules)
def test_every_rule_covers_itself(rule: PolicyRule) -> None:
    assert uncovered([rule], [rule]) == []


@given(st.lists(rules, max_size=3), rules)
def test_who_holds_what_is_granted_may_already_do_it(
    owned: list[PolicyRule], wanted: PolicyRule
) -> None:
    """The meaning of covering: no question is allowed by the grant and by nothing owned."""
    if uncovered(owned, [wanted]):
        return
    for single in single_permissions(wanted):
        resource, _, subresource = single.resources[0].partition("/")
        name = single.resource_names[0] if single.resource_names else ""
        asked = Attributes(
            User("u"),
            single.verbs[0],
            resource_request=True,
            group=single.api_groups[0],
            resource=resource,
            subresource=subresource,
            name=name,
        )
        assert any(rule.allows(asked) for rule in owned)
