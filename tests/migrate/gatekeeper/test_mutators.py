"""Mutators of Gatekeeper: what they make of objects, as Gatekeeper does, and what is refused."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import Json, JsonObject
from celadon.migrate import Case, Translation, judged_by, translate_mutators
from tests.migrate.gatekeeper.gatekeeper_documents import CATALOG, pod

PODS: JsonObject = {"groups": [""], "versions": ["v1"], "kinds": ["Pod"]}
PULL = "spec.containers[name: *].imagePullPolicy"
USER = "spec.containers[name:*].securityContext.runAsUser"
DROP = "spec.containers[name: *].securityContext.capabilities.drop"


def mutator(location: str, kind: str = "Assign", /, **spec: Json) -> dict[str, Any]:
    """A mutator of Pods."""
    applies: JsonObject = {} if kind == "AssignMetadata" else {"applyTo": [PODS]}
    return {
        "apiVersion": "mutations.gatekeeper.sh/v1",
        "kind": kind,
        "metadata": {"name": "m"},
        "spec": {**applies, "location": location, **spec},
    }


def assign(location: str, value: Json, *tests: tuple[str, str]) -> dict[str, Any]:
    """An `Assign` of a value, with path tests."""
    path_tests: list[Json] = [{"subPath": path, "condition": which} for path, which in tests]
    parameters: JsonObject = {"assign": {"value": value}}
    if path_tests:
        parameters = {**parameters, "pathTests": path_tests}
    return mutator(location, parameters=parameters)


def change_set(location: str, operation: str, *values: str) -> dict[str, Any]:
    """A `ModifySet`."""
    parameters: JsonObject = {"operation": operation, "values": {"fromList": list(values)}}
    return mutator(location, "ModifySet", parameters=parameters)


def label(name: str, value: str | None) -> dict[str, Any]:
    """An `AssignMetadata`; without a value, the namespace is what is written."""
    what: JsonObject = {"fromMetadata": {"field": "namespace"}} if value is None else {
        "value": value
    }  # fmt: skip
    return mutator(f'metadata.labels."{name}"', "AssignMetadata", parameters={"assign": what})


def of(document: JsonObject, *others: JsonObject) -> Translation:
    """What becomes of a mutator, with other documents beside it."""
    found, *rest = translate_mutators([document, *others], CATALOG)
    assert found is not None
    assert not any(rest)
    return found


def assert_makes(document: JsonObject, obj: JsonObject, expected: JsonObject) -> None:
    """Assert that a mutator makes something of an object."""
    found = of(document)
    assert not found.reason, found.reason
    case = Case("m", "", obj, "pass", patched=expected)
    assert judged_by(case, found.policies, CATALOG) == ("pass", "")


def expression(document: JsonObject) -> str:
    (policy,) = of(document).policies
    (one,) = policy["spec"]["mutations"]
    text: str = one["jsonPatch"]["expression"]
    return text


def labelled(**labels: str) -> dict[str, Any]:
    made = pod()
    made["metadata"]["labels"] = labels
    return made


def secured(**context: Json) -> JsonObject:
    return pod({"securityContext": context})


SIDECAR: JsonObject = {"name": "side", "image": "side:1"}
NOT_SET = (USER, "MustNotExist")

MADE: list[tuple[JsonObject, JsonObject, JsonObject]] = [
    (assign(PULL, "Always"), pod(), pod({"imagePullPolicy": "Always"})),
    (
        assign(
            "spec.containers[name: a].imagePullPolicy",
            "Always",
            ("spec.containers[name: a]", "MustExist"),
        ),
        pod({"name": "a"}, {"name": "b"}),
        pod({"name": "a", "imagePullPolicy": "Always"}, {"name": "b"}),
    ),
    (assign(USER, 7), pod(), secured(runAsUser=7)),
    (assign(USER, 7), secured(runAsUser=1), secured(runAsUser=7)),
    (assign(USER, 7, NOT_SET), secured(runAsUser=1), secured(runAsUser=1)),
    (assign(USER, 7, NOT_SET), secured(privileged=True), secured(privileged=True, runAsUser=7)),
    (
        assign(USER, 7, ("spec.containers[name:*].securityContext", "MustExist")),
        pod({}, {"name": "d", "securityContext": {}}),
        pod({}, {"name": "d", "securityContext": {"runAsUser": 7}}),
    ),
    (
        assign(USER, 7, ("spec.containers[name:*].securityContext", "MustNotExist")),
        pod({}, {"name": "d", "securityContext": {}}),
        pod({"securityContext": {"runAsUser": 7}}, {"name": "d", "securityContext": {}}),
    ),
    (
        assign("spec.dnsConfig", {"options": [{"name": "ndots", "value": "2"}]}),
        pod(dnsConfig={"nameservers": ["1.1.1.1"]}),
        pod(dnsConfig={"options": [{"name": "ndots", "value": "2"}]}),
    ),
    (assign("spec.\"nodeSelector\".'a.b/c'", "x"), pod(), pod(nodeSelector={"a.b/c": "x"})),
    (assign("spec.containers[name: side]", SIDECAR), pod(), pod({}, SIDECAR)),
    (
        assign("spec.containers[name: side]", SIDECAR),
        pod({"name": "side", "image": "old", "tty": True}, {}),
        pod(SIDECAR, {}),
    ),
    (
        assign("spec.initContainers[name: side].image", "side:1"),
        pod(),
        pod(initContainers=[SIDECAR]),
    ),
    (change_set(DROP, "merge", "ALL"), pod(), secured(capabilities={"drop": ["ALL"]})),
    (
        change_set(DROP, "merge", "ALL", "X"),
        secured(capabilities={"drop": ["A", "X"]}),
        secured(capabilities={"drop": ["A", "X", "ALL"]}),
    ),
    (
        change_set(DROP, "prune", "X", "Y"),
        pod({}, {"name": "d", "securityContext": {"capabilities": {"drop": ["X", "A"]}}}),
        pod({}, {"name": "d", "securityContext": {"capabilities": {"drop": ["A"]}}}),
    ),
    (label("team", "a"), labelled(), labelled(team="a")),
    (label("team", "a"), labelled(team="b"), labelled(team="b")),
    (label("x.io/ns", None), labelled(a="b"), labelled(a="b", **{"x.io/ns": "shop"})),
]


@pytest.mark.parametrize(("document", "obj", "expected"), MADE)
def test_what_mutators_make(document: JsonObject, obj: JsonObject, expected: JsonObject) -> None:
    assert_makes(document, obj, expected)


def test_texts() -> None:
    assert expression(assign("spec.priorityClassName", "low")) == (
        "[JSONPatch{op: 'add', path: '/spec/priorityClassName', value: 'low'}]"
    )
    assert expression(assign("spec.dnsConfig.options", [])) == (
        "!has(object.spec.dnsConfig) ? "
        "[JSONPatch{op: 'add', path: '/spec/dnsConfig', value: Object.spec.dnsConfig{options: []}}]"
        " : [JSONPatch{op: 'add', path: '/spec/dnsConfig/options', value: []}]"
    )
    assert expression(change_set(DROP, "prune", "X")) == (
        "object.spec.containers.transformList(index, container, "
        "container.?securityContext.?capabilities.?drop.hasValue(), "
        "JSONPatch{op: 'add', path: '/spec/containers/' + string(index) + "
        "'/securityContext/capabilities/drop', value: "
        "container.securityContext.capabilities.drop.filter(item, !(item in ['X']))})"
    )


@pytest.mark.parametrize(
    ("spec", "constraints"),
    [
        ({}, {"resourceRules": [{"operations": ["CREATE", "UPDATE"]}]}),
        (
            {"applyTo": [{**PODS, "operations": ["CREATE"]}], "match": {"scope": "Namespaced"}},
            {"resourceRules": [{"operations": ["CREATE"], "scope": "Namespaced"}]},
        ),
        (
            {
                "applyTo": [{**PODS, "kinds": ["Pod", "Service"]}],
                "match": {"kinds": [{"apiGroups": ["*"], "kinds": ["Service"]}]},
            },
            {"resourceRules": [{"resources": ["services", "services/status"]}]},
        ),
        (
            {"match": {"labelSelector": {"matchLabels": {"a": "b"}}}},
            {"objectSelector": {"matchLabels": {"a": "b"}}, "resourceRules": [{}]},
        ),
    ],
)
def test_what_mutators_apply_to(spec: JsonObject, constraints: JsonObject) -> None:
    document = assign("spec", {})
    document["spec"].update(spec)
    (policy,) = of(document).policies
    (rule,) = constraints["resourceRules"]
    whole = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["pods", "pods/ephemeralcontainers"],
    }
    expected = {**constraints, "resourceRules": [{**whole, **rule}]}
    assert policy["spec"]["matchConstraints"] == expected
    assert policy["spec"]["reinvocationPolicy"] == "IfNeeded"


def test_namespaces_that_a_configuration_exempts_from_mutations() -> None:
    config: JsonObject = {
        "apiVersion": "config.gatekeeper.sh/v1alpha1",
        "kind": "Config",
        "metadata": {"name": "config"},
        "spec": {"match": [{"excludedNamespaces": ["kube-*"], "processes": ["mutation-webhook"]}]},
    }
    (policy,) = of(assign(PULL, "Always"), config).policies
    (condition,) = policy["spec"]["matchConditions"]
    assert condition["expression"] == "!request.namespace.startsWith('kube-')"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (mutator("spec.x", "AssignImage"), "an image that is taken apart (`AssignImage`)"),
        (assign("spec.containers[name: *].wrong", 1), "the field `wrong`"),
        (assign("spec..x", 1), "`spec..x`, which is no location"),
        (assign("spec.x.", 1), "`spec.x.`, which is no location"),
        (assign("metadata.labels.x", "1"), "which `Assign` cannot change"),
        (
            mutator("spec.x", "AssignMetadata", parameters={}),
            "which `AssignMetadata` cannot change",
        ),
        (
            assign("spec.containers[name: *].env[name: A].value", "1"),
            "a location in a list in a list",
        ),
        (assign(USER, 1, ("spec.volumes", "MustExist")), "a path test of what is not on the way"),
        (
            assign(
                USER,
                1,
                ("spec.containers[name:*].securityContext", "MustNotExist"),
                (USER, "MustExist"),
            ),
            "a mutation that never changes anything",
        ),
        (
            assign(PULL, "Always", ("spec.containers[name:*]", "MustNotExist")),
            "a mutation that never changes anything",
        ),
        (
            mutator(PULL, parameters={"assign": {"externalData": {"provider": "p"}}}),
            "`externalData` in parameters",
        ),
        (mutator(PULL, parameters={}), "a mutator without a value"),
        (change_set(DROP, "other", "A"), "the operation `other`"),
        (mutator(PULL, match={"name": "x"}, parameters={}), "a mutation by the object's name"),
        (mutator(PULL, match={"source": "Generated"}, parameters={}), "a constraint for Pods that"),
        (
            mutator(PULL, match={"kinds": [{"kinds": ["Service"]}]}, parameters={}),
            "a mutation of no kind that it applies to",
        ),
    ],
)
def test_what_is_not_translated(document: JsonObject, reason: str) -> None:
    assert reason in of(document).reason


# --- The property ------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A field, or those items of a list that have a value at a key (`*`: all)."""

    name: str
    key: str = ""

    @property
    def text(self) -> str:
        return f"{self.name}[name: {self.key}]" if self.key else self.name


def mutated(obj: Any, steps: Sequence[Step], tests: Sequence[str], value: Any) -> Any:
    """What Gatekeeper makes of an object: a walk that creates what is missing, and gives up what it
    did where a path test fails. `tests` has one for each step, or an empty text."""
    if not steps:
        return copy.deepcopy(value)
    (step, *rest), (test, *others) = steps, tests
    if not step.key:
        if test == ("MustNotExist" if step.name in obj else "MustExist"):
            return None
        below = mutated(obj.get(step.name, {}), rest, others, value)
        return None if below is None else {**obj, step.name: below}
    items = [*obj.get(step.name, [])]
    meant = [n for n, one in enumerate(items) if step.key in ("*", one["name"])]
    if meant and test == "MustNotExist":
        return None
    if not meant and (step.key == "*" or test == "MustExist"):
        return None
    if not meant:
        items.append({"name": step.key})
        meant = [len(items) - 1]
    below = {n: mutated(items[n], rest, others, value) for n in meant}
    if not any(below.values()):
        return None
    return {**obj, step.name: [below.get(n) or one for n, one in enumerate(items)]}


LOCATIONS: list[tuple[list[Step], Any]] = [
    ([Step("spec"), Step("securityContext"), Step("fsGroup")], 7),
    ([Step("spec"), Step("securityContext"), Step("seccompProfile"), Step("type")], "Unconfined"),
    ([Step("spec"), Step("nodeSelector"), Step("disk")], "ssd"),
    ([Step("spec"), Step("nodeName")], "n"),
    *(
        (
            [Step("spec"), Step(name, key), *map(Step, ("securityContext", "capabilities", "add"))],
            ["X"],
        )
        for name in ("containers", "initContainers")
        for key in ("*", "a", "b")
    ),
    ([Step("spec"), Step("containers", "*"), Step("securityContext"), Step("capabilities")],
     {"drop": ["ALL"]}),
    ([Step("spec"), Step("containers", "b"), Step("tty")], True),
]  # fmt: skip

_containers = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "b", "c"]), "image": st.just("nginx:1")},
        optional={
            "securityContext": st.fixed_dictionaries(
                {},
                optional={
                    "runAsUser": st.sampled_from([0, 7]),
                    "capabilities": st.fixed_dictionaries(
                        {}, optional={"add": st.lists(st.sampled_from("XYZ"), max_size=2)}
                    ),
                },
            ),
            "tty": st.just(True),
        },
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda one: one["name"],
)
_pods = st.builds(
    lambda containers, spec: pod(*containers, **spec),
    _containers,
    st.fixed_dictionaries(
        {},
        optional={
            "initContainers": _containers,
            "nodeSelector": st.dictionaries(st.sampled_from(["disk", "x"]), st.just("hdd")),
            "securityContext": st.fixed_dictionaries(
                {},
                optional={
                    "fsGroup": st.just(1),
                    "seccompProfile": st.just({"type": "RuntimeDefault"}),
                },
            ),
        },
    ),
)


@given(st.data(), st.sampled_from(LOCATIONS), _pods)
def test_mutators_make_what_gatekeeper_makes(
    data: st.DataObject, where: tuple[list[Step], Any], obj: JsonObject
) -> None:
    steps, value = where
    location = ".".join(one.text for one in steps)
    which = st.sampled_from(["", "", "", "MustExist", "MustNotExist"])
    tests = data.draw(st.lists(which, min_size=len(steps), max_size=len(steps)))
    given_tests = [
        (".".join(one.text for one in steps[: n + 1]), test) for n, test in enumerate(tests) if test
    ]
    document = assign(location, value, *given_tests)
    expected = mutated(obj, steps, tests, value)
    if of(document).reason:
        assert of(document).reason == "a mutation that never changes anything"
        assert expected is None
        return
    assert_makes(document, obj, obj if expected is None else expected)
