"""Which permissions somebody lacks, and how they are named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.authorization import Attributes, User
from celadon.kube.rbac import PolicyRule, compacted, covers_url, uncovered
from tests.growth.counted_steps import LINEAR, growth


def pods(
    *verbs: str, names: tuple[str, ...] = (), resources: tuple[str, ...] = ("pods",)
) -> PolicyRule:
    return PolicyRule(verbs, ("",), resources, names)


def urls(*paths: str, verb: str = "get") -> PolicyRule:
    return PolicyRule((verb,), non_resource_urls=paths)


def single_permissions(rule: PolicyRule) -> Iterator[PolicyRule]:
    """One verb on one resource (with one name, if names are listed) or path each."""
    one_each: list[tuple[str, ...]] = [(name,) for name in rule.resource_names]
    names = one_each or [()]
    for group, resource, verb, name in product(rule.api_groups, rule.resources, rule.verbs, names):
        yield PolicyRule((verb,), (group,), (resource,), name)
    for url, verb in product(rule.non_resource_urls, rule.verbs):
        yield PolicyRule((verb,), non_resource_urls=(url,))


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
paths = st.lists(st.sampled_from(["/a", "/a/b", "/a/*", "/*", "*", "/a**"]), max_size=3).map(tuple)
rules = st.builds(PolicyRule, several, several, several, st.just(()) | several)
mixed = st.builds(PolicyRule, several, several, several, st.just(()) | several, paths)


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


def covers(owner: PolicyRule, single: PolicyRule) -> bool:
    """As upstream's `ruleCovers`."""

    def has(owned: tuple[str, ...], expected: tuple[str, ...]) -> bool:
        return "*" in owned or set(expected) <= set(owned)

    def has_resource(resource: str) -> bool:
        _, slash, subresource = resource.partition("/")
        return has(owner.resources, (resource,)) or bool(
            slash and f"*/{subresource}" in owner.resources
        )

    names = owner.resource_names
    return (
        has(owner.verbs, single.verbs)
        and has(owner.api_groups, single.api_groups)
        and all(map(has_resource, single.resources))
        and all(
            any(covers_url(pattern, url) for pattern in owner.non_resource_urls)
            for url in single.non_resource_urls
        )
        and (
            not names or (bool(single.resource_names) and set(single.resource_names) <= set(names))
        )
    )


@given(st.lists(mixed, max_size=3), mixed)
def test_nothing_else_is_lacking(owned: list[PolicyRule], wanted: PolicyRule) -> None:
    assert uncovered(owned, [wanted]) == [
        single
        for single in single_permissions(wanted)
        if not any(covers(owner, single) for owner in owned)
    ]


def _resources(count: int) -> Callable[[], object]:
    owned = [pods("get", resources=(f"r{i}",)) for i in range(count)]
    return lambda: uncovered(owned, reversed(owned))


def _paths(count: int) -> Callable[[], object]:
    owned = [urls(f"/{i:04}/*") for i in range(count)]
    return lambda: uncovered(owned, [urls(*(f"/{i:04}/a" for i in range(count)))])


@pytest.mark.parametrize("work", [_resources, _paths])
def test_rules_are_not_compared_each_with_each(
    work: Callable[[int], Callable[[], object]],
) -> None:
    assert work(20)() == []
    assert growth(work, 20) < LINEAR


def test_of_millions_of_permissions_the_first_are_listed() -> None:
    many = tuple(f"{i:04}" for i in range(1000))
    missing = uncovered([], [PolicyRule(many, many, many, many)])
    assert missing[0] == PolicyRule(("0000",), ("0000",), ("0000",), ("0000",))
    assert len(missing) < 10_000
