"""Which hooks a request concerns, in which order, and as what."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.activation import RequestContext
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.request import Operation
from celadon.admission.webhooks.hooks import EXEMPT, Excluded, HookSet, Selected
from celadon.kube import GroupVersionKind, GroupVersionResource, StatusError
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from tests.admission.building import config_map, request
from tests.admission.webhooks.hooking import WORLD, configuration, hooks, webhook


def names(found: HookSet, asked: Any = None, world: ObjectWorld = WORLD) -> list[str]:
    selected = found.selected(asked or request(), world)
    return [one.hook.name for one in selected if isinstance(one, Selected)]


def rule(**more: Any) -> dict[str, Any]:
    given = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["*"],
        "resources": ["configmaps"],
    }
    return {"rules": [{**given, **more}]}


def test_configurations_by_name_and_hooks_as_listed() -> None:
    found = HookSet(
        [
            configuration(
                webhook("z.hooks.example.com"), webhook("b.hooks.example.com"), name="a-2"
            ),
            configuration(webhook("a.hooks.example.com"), name="a-10"),
        ]
    )
    assert [one.name for one in found.hooks] == [
        "a.hooks.example.com",
        "z.hooks.example.com",
        "b.hooks.example.com",
    ]
    assert [one.index for one in found.hooks] == [0, 1, 2]


def test_uids_tell_hooks_of_one_name_apart() -> None:
    same = webhook("a.hooks.example.com")
    assert [one.uid for one in hooks(same, webhook("b.hooks.example.com"), same).hooks] == [
        "c/a.hooks.example.com/0",
        "c/b.hooks.example.com/0",
        "c/a.hooks.example.com/1",
    ]


@pytest.mark.parametrize(
    ("given", "selected"),
    [
        (rule(), True),
        ({"rules": []}, False),
        (rule(resources=["*"]), True),
        (rule(resources=["configmaps/status"]), False),
        (rule(operations=["UPDATE"]), False),
        (rule(scope="Cluster"), False),
        ({"objectSelector": {"matchLabels": {"a": "b"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "ns"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}}, False),
        ({"matchConditions": [{"name": "a", "expression": "object.metadata.name == 'c'"}]}, True),
        ({"matchConditions": [{"name": "a", "expression": "namespaceObject == null"}]}, True),
    ],
)
def test_rules_selectors_conditions(given: dict[str, Any], *, selected: bool) -> None:
    assert bool(names(hooks(webhook(**given)))) is selected


def test_a_false_condition_excludes_and_says_which() -> None:
    conditions = [
        {"name": "broken", "expression": "object.nope == 1"},
        {"name": "no", "expression": "false"},
    ]
    [one] = hooks(webhook(matchConditions=conditions)).selected(request(), WORLD)
    assert isinstance(one, Excluded)
    assert one.result.false_condition == "no"


def test_errors_of_conditions_meet_the_failure_policy() -> None:
    conditions = [{"name": "broken", "expression": "object.nope == 1"}]
    ignoring = hooks(webhook(matchConditions=conditions, failurePolicy="Ignore"))
    [one] = ignoring.selected(request(), WORLD)
    assert isinstance(one, Excluded)
    with pytest.raises(StatusError) as refused:
        names(hooks(webhook(matchConditions=conditions)))
    assert refused.value.code == 403
    assert str(refused.value) == (
        "configmaps \"c\" is forbidden: expression 'object.nope == 1' resulted in error: "
        "no such key: nope"
    )


def test_an_equivalent_version_is_sent_as_what_the_rule_names() -> None:
    asked = request(
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {}},
        kind=GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
        resource=GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers"),
    )
    given: dict[str, Any] = rule(
        apiGroups=["autoscaling"], apiVersions=["v1"], resources=["horizontalpodautoscalers"]
    )
    [one] = hooks(webhook(**given)).selected(asked, WORLD)
    assert isinstance(one, Selected)
    assert one.hit.kind.version == "v1"
    assert names(hooks(webhook(**given, matchPolicy="Exact")), asked) == []


def test_a_missing_namespace_is_told_where_the_rules_match() -> None:
    selective: dict[str, Any] = {"namespaceSelector": {"matchLabels": {"a": "b"}}}
    world = ObjectWorld()
    with pytest.raises(StatusError, match='namespaces "ns" not found') as missing:
        names(hooks(webhook(**selective)), world=world)
    assert missing.value.code == 404
    assert names(hooks(webhook(**selective, **rule(operations=["DELETE"]))), world=world) == []


@pytest.mark.parametrize("kind", sorted(EXEMPT))
def test_only_static_hooks_get_what_registers_hooks(kind: str) -> None:
    asked = request(
        config_map(),
        kind=GroupVersionKind(ADMISSION_REGISTRATION, "v1", kind),
        resource=GroupVersionResource(ADMISSION_REGISTRATION, "v1", f"{kind.lower()}s"),
        namespace="",
    )
    assert names(hooks(webhook()), asked) == []
    static = configuration(webhook("s.hooks.example.com"), name="s.static.k8s.io")
    assert names(hooks(webhook()).with_static([static]), asked) == ["s.hooks.example.com"]


def test_static_hooks_come_first() -> None:
    static = configuration(webhook("s.hooks.example.com"), name="z.static.k8s.io")
    found = hooks(webhook()).with_static([static])
    assert [(one.uid, one.index) for one in found.hooks] == [
        ("manifest/z.static.k8s.io/s.hooks.example.com/0", 0),
        ("c/a.hooks.example.com/0", 1),
    ]
    assert names(found.replaced([])) == ["s.hooks.example.com"]
    assert names(found.with_static([])) == ["a.hooks.example.com"]


def test_deletions_of_a_namespace_look_at_the_stored_one() -> None:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "n", "labels": {"a": "b"}},
    }
    asked = request(
        None,
        Operation.DELETE,
        old_object=namespace,
        kind=GroupVersionKind("", "v1", "Namespace"),
        resource=GroupVersionResource("", "v1", "namespaces"),
        name="n",
        namespace="n",
    )
    selective = webhook(namespaceSelector={"matchLabels": {"a": "b"}})
    assert names(hooks(selective), asked, ObjectWorld([namespace])) == ["a.hooks.example.com"]
    assert names(hooks(selective), asked, WORLD) == []


def test_a_changed_set_shares_what_it_knows() -> None:
    kept = configuration(webhook(matchConditions=[{"name": "a", "expression": "true"}]))
    before = HookSet([kept])
    after = before.replaced([kept, configuration(webhook(), name="b")])
    assert after.hooks[-1].conditions is before.hooks[0].conditions
    assert after.concerns(request(), WORLD)
    assert not after.replaced([]).concerns(request(), WORLD)


def test_who_concerns_nobody_is_not_asked_further() -> None:
    found = hooks(webhook(**rule()), webhook(**rule(resources=["secrets"])))
    assert found.concerns(request(), WORLD) is True
    secrets = GroupVersionResource("", "v1", "secrets")
    nodes = GroupVersionResource("", "v1", "nodes")
    assert found.concerns(request(resource=secrets), WORLD) is True
    assert found.concerns(request(resource=nodes), WORLD) is False
    assert hooks().concerns(request(), WORLD) is False


def test_stored_conditions_may_use_what_is_newest() -> None:
    """What has been stored is compiled with everything the release knows, not only with what may be
    written anew."""
    newest = {"name": "a", "expression": "semver('1.2.3').major() == 1"}
    given = configuration(webhook(matchConditions=[newest]))
    assert names(HookSet([given], "1.33")) == ["a.hooks.example.com"]


def test_one_hook_of_a_set() -> None:
    excluded = webhook(
        "b.hooks.example.com", matchConditions=[{"name": "n", "expression": "false"}]
    )
    found = hooks(
        webhook(**rule()), excluded, webhook("c.hooks.example.com", **rule(resources=["x"]))
    )
    context = RequestContext(request(), WORLD)
    first, second, third = (found.select(one, context) for one in found.hooks)
    assert isinstance(first, Selected)
    assert isinstance(second, Excluded)
    assert second.result.false_condition == "n"
    assert third is None
