"""Rules that mutate: what they make of objects, and what is not translated."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import Json, JsonObject
from celadon.migrate import Case, judged_by, translate_document
from celadon.migrate.translations import mutating_binding_document
from celadon.testing import KubeApi
from tests.migrate.kyverno.policy_documents import CATALOG, kyverno_policy, pod, translated


def mutating(mutate: JsonObject, kind: str = "Pod", **more: Json) -> dict[str, Any]:
    """A policy with one rule that mutates."""
    match = {"any": [{"resources": {"kinds": [kind]}}]}
    return kyverno_policy({"name": "r", "match": match, "mutate": mutate, **more})


def assert_makes(mutate: JsonObject, obj: JsonObject, expected: JsonObject, **more: Json) -> None:
    """Assert that a rule makes something of an object."""
    found = translated(mutating(mutate, str(obj["kind"]), **more))
    assert not found.reason, found.reason
    case = Case("p", "r", obj, "pass" if obj != expected else "skip", patched=expected)
    assert judged_by(case, found.policies, CATALOG) == (case.expected, "")


def merging(patch: JsonObject) -> dict[str, Any]:
    return {"patchStrategicMerge": patch}


def of_spec(**spec: Json) -> dict[str, Any]:
    return merging({"spec": spec})


def container(name: str = "c", **rest: Json) -> dict[str, Any]:
    return {"name": name, "image": f"{name}:1", **rest}


def with_containers(*containers: JsonObject, **spec: Json) -> dict[str, Any]:
    return pod({"containers": list(containers), **spec})


DROP_ALL = {"capabilities": {"drop": ["ALL"]}}
PROXY = {"name": "PROXY", "value": "p"}


@pytest.mark.parametrize(
    ("patch", "expression"),
    [
        (
            {"metadata": {"labels": {"a/b": "1"}}},
            "Object{metadata: Object.metadata{labels: {'a/b': '1'}}}",
        ),
        (
            {"spec": {"(hostNetwork)": True, "securityContext": {"runAsUser": 7}}},
            "Object{spec: Object.spec{securityContext: Object.spec.securityContext{runAsUser: 7}}}",
        ),
        # A selector of nodes is changed as a whole: an ApplyConfiguration may not do it.
        ({"spec": {"nodeSelector": {"a": "b"}}}, None),
        ({"spec": {"+(hostNetwork)": True}}, None),
        ({"spec": {"tolerations": []}}, None),
    ],
)
def test_a_patch_of_fields_is_an_apply_configuration(
    patch: JsonObject, expression: str | None
) -> None:
    (policy,) = translated(mutating(merging(patch))).policies
    found = policy["spec"]["mutations"]
    if expression is None:
        assert {one["patchType"] for one in found} == {"JSONPatch"}
    else:
        (one,) = found
        assert one["applyConfiguration"]["expression"] == expression


MERGES: list[tuple[JsonObject, JsonObject, JsonObject]] = [
    # Fields and maps.
    (of_spec(priorityClassName="a"), pod(), pod({"priorityClassName": "a"})),
    (merging({"metadata": {"labels": {"a/b": "1"}}}), pod(), pod(labels={"a/b": "1"})),
    (
        merging({"metadata": {"labels": {"a~b": "1"}}}),
        pod(labels={"c": "2"}),
        pod(labels={"a~b": "1", "c": "2"}),
    ),
    (
        merging({"metadata": {"labels": {"+(a)": "1", "+(b)": "1"}}}),
        pod(labels={"a": "2"}),
        pod(labels={"a": "2", "b": "1"}),
    ),
    (
        of_spec(securityContext={"+(runAsUser)": 1, "+(fsGroup)": 2}),
        pod({"securityContext": {"runAsUser": 5}}),
        pod({"securityContext": {"runAsUser": 5, "fsGroup": 2}}),
    ),
    (
        of_spec(**{"+(affinity)": {"+(nodeAffinity)": {}}}),
        pod({"affinity": {"podAffinity": {}}}),
        pod({"affinity": {"podAffinity": {}}}),
    ),
    (
        of_spec(dnsConfig={"options": [{"name": "ndots", "value": "1"}]}),
        pod({"dnsConfig": {"options": [{"name": "x"}], "searches": ["a"]}}),
        pod({"dnsConfig": {"options": [{"name": "ndots", "value": "1"}], "searches": ["a"]}}),
    ),
    # Items with keys.
    (
        of_spec(containers=[{"(name)": "*", "securityContext": DROP_ALL}]),
        with_containers(container("a"), container("b", securityContext={"privileged": True})),
        with_containers(
            container("a", securityContext=DROP_ALL),
            container("b", securityContext={"privileged": True, **DROP_ALL}),
        ),
    ),
    (
        of_spec(containers=[{"(image)": "a*", "imagePullPolicy": "Never"}]),
        with_containers(container("a"), container("b")),
        with_containers(container("a", imagePullPolicy="Never"), container("b")),
    ),
    (
        of_spec(containers=[container("side"), {"name": "c", "image": "d:1"}]),
        with_containers(container("c")),
        with_containers({"name": "c", "image": "d:1"}, container("side")),
    ),
    (
        of_spec(imagePullSecrets=[{"name": "s"}]),
        pod({"imagePullSecrets": [{"name": "t"}]}),
        pod({"imagePullSecrets": [{"name": "t"}, {"name": "s"}]}),
    ),
    (of_spec(imagePullSecrets=[{"name": "s"}]), pod(), pod({"imagePullSecrets": [{"name": "s"}]})),
    (
        of_spec(containers=[{"(name)": "?*", "env": [PROXY]}]),
        with_containers(
            container("a"),
            container("b", env=[{"name": "X", "value": "1"}]),
            container("c", env=[{"name": "PROXY", "value": "old"}, {"name": "X", "value": "1"}]),
        ),
        with_containers(
            container("a", env=[PROXY]),
            container("b", env=[{"name": "X", "value": "1"}, PROXY]),
            container("c", env=[{"name": "X", "value": "1"}, PROXY]),
        ),
    ),
    (
        of_spec(initContainers=[{"(name)": "*", "tty": True}]),
        pod(),
        pod(),
    ),
    # Conditions for the whole rule.
    (
        of_spec(containers=[{"<(image)": "a*"}], priorityClassName="p"),
        with_containers(container("a")),
        with_containers(container("a"), priorityClassName="p"),
    ),
    (
        of_spec(containers=[{"<(image)": "x*"}], priorityClassName="p"),
        with_containers(container("a")),
        with_containers(container("a")),
    ),
    (
        of_spec(volumes=[{"hostPath": {"<(path)": "*"}}], priorityClassName="p"),
        pod({"volumes": [{"name": "v", "emptyDir": {}}]}),
        pod({"volumes": [{"name": "v", "emptyDir": {}}]}),
    ),
    (
        of_spec(volumes=[{"hostPath": {"<(path)": "*"}}], priorityClassName="p"),
        pod({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
        pod({"volumes": [{"name": "v", "hostPath": {"path": "/"}}], "priorityClassName": "p"}),
    ),
    (
        merging({"metadata": {"annotations": {"(a)": "1"}}, "spec": {"priorityClassName": "p"}}),
        pod(),
        pod(),
    ),
    (
        merging({"metadata": {"annotations": {"(a)": "1"}}, "spec": {"priorityClassName": "p"}}),
        pod(annotations={"a": "1"}),
        pod({"priorityClassName": "p"}, annotations={"a": "1"}),
    ),
    # Variables.
    (
        merging({"metadata": {"labels": {"of": "{{ request.object.metadata.name }}-x"}}}),
        pod(),
        pod(labels={"of": "a-x"}),
    ),
    # Elements.
    (
        {
            "foreach": [
                {
                    "list": "request.object.spec.[initContainers, containers][]",
                    **of_spec(containers=[{"(name)": "{{element.name}}", "tty": True}]),
                }
            ]
        },
        with_containers(container("a"), initContainers=[container("i")]),
        with_containers(container("a", tty=True), initContainers=[container("i")]),
    ),
    (
        {
            "foreach": [
                {
                    "list": "request.object.spec.containers",
                    "preconditions": {
                        "all": [{"key": "{{element.name}}", "operator": "Equals", "value": "a"}]
                    },
                    **of_spec(
                        containers=[{"name": "{{ element.name }}", "image": "x/{{element.image}}"}]
                    ),
                }
            ]
        },
        with_containers(container("a"), container("b")),
        with_containers({"name": "a", "image": "x/a:1"}, container("b")),
    ),
]


@pytest.mark.parametrize(("mutate", "obj", "expected"), MERGES)
def test_merges(mutate: JsonObject, obj: JsonObject, expected: JsonObject) -> None:
    assert_makes(mutate, obj, expected)


def patching(*operations: JsonObject) -> dict[str, Any]:
    return {"patchesJson6902": list(operations)}


def each_container(*operations: JsonObject) -> dict[str, Any]:
    entry = {"list": "request.object.spec.containers[]", **patching(*operations)}
    return {"foreach": [entry]}


def add(path: str, value: Json) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


TOLERATION = {"key": "a", "operator": "Exists"}
CAPABILITY = "/spec/containers/{{elementIndex}}/securityContext/capabilities/add/-"

MIXED: JsonObject = {"memory": "4Gi", "cpu": 2}

PATCHES: list[tuple[JsonObject, JsonObject, JsonObject]] = [
    (
        each_container(add("/spec/containers/{{elementIndex}}/resources/limits", MIXED)),
        with_containers(container(resources={})),
        with_containers(container(resources={"limits": MIXED})),
    ),
    (patching(add("/spec/priorityClassName", "p")), pod(), pod({"priorityClassName": "p"})),
    (
        patching(add("/spec/tolerations/-", TOLERATION)),
        pod(),
        pod({"tolerations": [TOLERATION]}),
    ),
    (
        patching(add("/spec/tolerations/-1", TOLERATION)),
        pod({"tolerations": [{"key": "b"}]}),
        pod({"tolerations": [{"key": "b"}, TOLERATION]}),
    ),
    # What is there already is not added again: every update would repeat it.
    (
        patching(add("/spec/tolerations/-", TOLERATION)),
        pod({"tolerations": [{**TOLERATION, "effect": "NoSchedule"}]}),
        pod({"tolerations": [{**TOLERATION, "effect": "NoSchedule"}]}),
    ),
    (
        patching(add("/spec/tolerations/-", TOLERATION)),
        pod({"tolerations": [{"key": "a"}]}),
        pod({"tolerations": [{"key": "a"}, TOLERATION]}),
    ),
    (
        patching(add("/spec/volumes/-", {"name": "a", "emptyDir": {"medium": "Memory"}})),
        pod({"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}]}),
        pod({"volumes": [{"name": "a", "emptyDir": {"medium": "Memory"}}]}),
    ),
    (
        patching(add("/spec/containers/0/args/-", "b")),
        with_containers(container(args=["b", "a"])),
        with_containers(container(args=["b", "a"])),
    ),
    (
        patching(add("/metadata/annotations/a~1b", "1")),
        pod(),
        pod(annotations={"a/b": "1"}),
    ),
    (
        patching({"op": "remove", "path": "/spec/priorityClassName"}),
        pod({"priorityClassName": "p"}),
        pod(),
    ),
    (patching({"op": "remove", "path": "/spec/priorityClassName"}), pod(), pod()),
    (
        patching({"op": "replace", "path": "/spec/priorityClassName", "value": "q"}),
        pod({"priorityClassName": "p"}),
        pod({"priorityClassName": "q"}),
    ),
    (
        patching(add("/spec/containers/0/env/-", PROXY)),
        with_containers(container("a"), container("b")),
        with_containers(container("a", env=[PROXY]), container("b")),
    ),
    (
        patching(add("/spec/initContainers/0/env/-", PROXY)),
        pod(),
        pod(),
    ),
    (
        each_container(add(CAPABILITY, "SETUID")),
        with_containers(
            container("a"),
            container("b", securityContext={"privileged": True}),
            container("c", securityContext={"capabilities": {"drop": ["ALL"]}}),
            container("d", securityContext={"capabilities": {"add": ["X"]}}),
            container("e", securityContext={"capabilities": {"add": ["SETUID", "X"]}}),
        ),
        with_containers(
            container("a", securityContext={"capabilities": {"add": ["SETUID"]}}),
            container(
                "b", securityContext={"privileged": True, "capabilities": {"add": ["SETUID"]}}
            ),
            container("c", securityContext={"capabilities": {"drop": ["ALL"], "add": ["SETUID"]}}),
            container("d", securityContext={"capabilities": {"add": ["X", "SETUID"]}}),
            container("e", securityContext={"capabilities": {"add": ["SETUID", "X"]}}),
        ),
    ),
    (
        each_container({"op": "remove", "path": "/spec/containers/{{elementIndex}}/tty"}),
        with_containers(container("a", tty=True), container("b")),
        with_containers(container("a"), container("b")),
    ),
    (
        each_container(
            add(
                "/spec/containers/{{elementIndex}}/env/-",
                {"name": "IMAGE", "value": "{{ element.image }}"},
            )
        ),
        with_containers(container("a")),
        with_containers(container("a", env=[{"name": "IMAGE", "value": "a:1"}])),
    ),
]


@pytest.mark.parametrize(("mutate", "obj", "expected"), PATCHES)
def test_json_patches(mutate: JsonObject, obj: JsonObject, expected: JsonObject) -> None:
    assert_makes(mutate, obj, expected)


@pytest.mark.parametrize(
    ("mutate", "reason"),
    [
        ({"targets": []}, "`targets`"),
        (merging({}), "a patch that changes nothing"),
        (merging({"spec": {"nope": 1}}), "`nope`, which the kind does not have"),
        (merging({"metadata": {"labels": {"{{request.name}}": "1"}}}), "a patch of keys"),
        (of_spec(**{"=(hostNetwork)": True}), "the anchor `=(hostNetwork)` in a patch"),
        (of_spec(tolerations=[{"(key)": "a", "operator": "b"}]), "conditions on items of a list"),
        (of_spec(containers=[{"image": "a"}]), "an item without its key"),
        (of_spec(containers=["a"]), ""),
        (
            of_spec(containers=[{"(image)": "a", "image": "b"}]),
            "a patch of what is a condition",
        ),
        (
            of_spec(containers=[{"(name)": "*", "env": [{"(name)": "a", "value": "b"}]}]),
            "conditions on lists in lists",
        ),
        (
            {
                "foreach": [
                    {
                        "list": "request.object.spec.initContainers",
                        **of_spec(containers=[{"name": "{{element.name}}", "tty": True}]),
                    }
                ]
            },
            "an element of another list than that of the patch",
        ),
        (
            {
                "foreach": [
                    {
                        "list": "request.object.spec.containers",
                        "context": [{"name": "i", "imageRegistry": {}}],
                    }
                ]
            },
            "values that are looked up (`imageRegistry`)",
        ),
        (patching({"op": "move", "path": "/spec"}), "`move` of a JSON patch"),
        (patching(add("/spec/containers/x", 1)), "`x` of a list"),
        (patching(add("/spec/{{ x }}", 1)), "variables in paths of a patch"),
        (patching(add("/spec/nope", 1)), "`nope`, which the kind does not have"),
        ({"patchesJson6902": "x"}, "a JSON patch that is no list of operations"),
        (
            each_container({"op": "remove", "path": "/spec/containers/{{elementIndex}}"}),
            "`remove` of items",
        ),
        (each_container(add("/spec/hostname", "x")), "a JSON patch of no list"),
        (each_container(add("/spec/containers/0/tty", True)), "a patch outside of the element"),
    ],
)
def test_what_is_not_translated(mutate: JsonObject, reason: str) -> None:
    found = translated(mutating(mutate))
    if reason:
        assert found.reason.startswith(reason)
        assert not found.policies


@pytest.mark.parametrize(
    ("mutate", "reason"),
    [
        (of_spec(containers=[{"name": "a", "$patch": "delete"}]), "the directive `$patch`"),
        (of_spec(containers=[{"(name)": "a", "$patch": "delete"}]), "the directive `$patch`"),
        (merging({"metadata": {"labels": {"$patch": "replace"}}}), "the directive `$patch`"),
        (of_spec(**{"$retainKeys": ["containers"]}), "the directive `$retainKeys`"),
        (of_spec(**{"*": True}), "a patch of keys that are not known"),
        (
            each_container(add("/spec/volumes/{{elementIndex}}/name", "x")),
            "a JSON patch of no list that is gone through",
        ),
        (
            each_container(add("/spec/containers/{{elementIndex}}/env/{{elementIndex}}/name", "x")),
            "the index of an element of another list",
        ),
        (
            each_container({"op": "remove", "path": "/spec/containers/{{elementIndex}}"}),
            "`remove` of items",
        ),
        (
            {"foreach": [{"list": "request.object.spec.containers", "foreach": []}]},
            "`foreach` in foreach",
        ),
        ({"patchesJson6902": "x"}, "a JSON patch that is no list of operations"),
        (patching(add("/spec/containers/-1/tty", True)), "`-1` of a list"),
    ],
)
def test_what_to_use_instead_is_named(mutate: JsonObject, reason: str) -> None:
    found = translated(mutating(mutate))
    assert found.reason == reason
    assert found.instead


def test_kinds_that_are_not_known_have_no_lists_with_keys() -> None:
    found = translated(mutating(of_spec(items=[{"name": "a"}]), "Widget"))
    assert found.reason == "lists of a kind that is not known"


def test_conditions_of_the_rule_are_conditions_of_the_policy() -> None:
    only = {"all": [{"key": "{{ request.name }}", "operator": "Equals", "value": "b"}]}
    mutate = of_spec(priorityClassName="p")
    assert_makes(mutate, pod(), pod(), preconditions=only)
    found = translated(mutating(mutate, preconditions=only))
    policy, binding = found.documents
    assert policy["kind"] == "MutatingAdmissionPolicy"
    assert policy["spec"]["reinvocationPolicy"] == "Never"
    assert binding["spec"] == {"policyName": "p"}


@pytest.mark.parametrize(
    ("names", "policies"),
    [
        (["add", "check"], ["p-add", "p-check"]),
        # A later rule may match what an earlier one writes, and policies go by their names.
        (["mark", "add"], ["p-1-mark", "p-2-add"]),
    ],
)
def test_rules_change_objects_in_their_own_order(names: list[str], policies: list[str]) -> None:
    match = {"any": [{"resources": {"kinds": ["Pod"]}}]}
    rules = [{"name": one, "match": match, "mutate": of_spec(priority=1)} for one in names]
    found = translate_document(kyverno_policy(*rules), CATALOG)
    assert [one["metadata"]["name"] for of in found for one in of.policies] == policies


def test_a_rule_matches_what_the_rules_before_have_written() -> None:
    """The selector of a policy would be asked before any policy has changed the object."""
    mark = {"name": "mark", "mutate": merging({"metadata": {"labels": {"type": "db"}}})}
    keep = {"name": "keep", "mutate": merging({"metadata": {"labels": {"keep": "yes"}}})}
    marked = {"selector": {"matchLabels": {"type": "db"}}}
    rules: list[JsonObject] = [
        {**rule, "match": {"any": [{"resources": {"kinds": ["Pod"], **selector}}]}}
        for rule, selector in ((mark, {}), (keep, marked))
    ]
    found = translate_document(kyverno_policy(*rules), CATALOG)
    with KubeApi([one for of in found for one in of.documents]) as api:
        (made,) = api.create(pod())
    assert made["metadata"]["labels"] == {"type": "db", "keep": "yes"}


def test_conditions_on_items_of_a_list_that_is_a_condition() -> None:
    patch = {"metadata": {"labels": {"db": "yes"}}, "spec": {"(containers)": [{"(image)": "*db*"}]}}
    assert_makes(merging(patch), with_containers(container("a")), with_containers(container("a")))
    db = with_containers(container("a"), container("db"))
    assert_makes(
        merging(patch), db, {**db, "metadata": {**db["metadata"], "labels": {"db": "yes"}}}
    )


def test_new_items_are_in_front_in_their_own_order() -> None:
    """Init containers run in the order of their list."""
    mutate = of_spec(initContainers=[container("x"), container("b"), container("y")])
    (policy,) = translated(mutating(mutate)).policies
    obj = with_containers(container(), initContainers=[container("a"), container("b")])
    with KubeApi([policy, mutating_binding_document(policy)]) as api:
        (made,) = api.create(obj)
    assert [one["name"] for one in made["spec"]["initContainers"]] == ["x", "y", "a", "b"]


def test_rules_for_pods_are_for_their_controllers() -> None:
    match = {"any": [{"resources": {"kinds": ["Pod"]}}]}
    rule = {"name": "r", "match": match, "mutate": of_spec(priorityClassName="p")}
    found = translated(kyverno_policy(rule, annotations={}))
    template = {"metadata": {}, "spec": {"containers": [container()]}}
    obj: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {}, "template": template},
    }
    patched = {**template, "spec": {**template["spec"], "priorityClassName": "p"}}
    expected = {**obj, "spec": {"selector": {}, "template": patched}}
    case = Case("p", "r", obj, "pass", patched=expected)
    assert judged_by(case, found.policies, CATALOG) == ("pass", "")


def test_a_mutation_that_comes_out_otherwise_says_where() -> None:
    found = translated(mutating(of_spec(priorityClassName="p")))
    case = Case("p", "r", pod(), "pass", patched=pod({"priorityClassName": "q"}))
    result, message = judged_by(case, found.policies, CATALOG)
    assert (result, message) == ("fail", ".spec.priorityClassName: 'p', expected 'q'")


MEMORY = "{{ element.resources.limits.memory || element.resources.requests.memory }}"


def of_memory(**resources: JsonObject) -> dict[str, Any]:
    return with_containers(container(resources=resources))


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"requests": {"memory": "1Gi"}}, "1Gi"),
        ({"limits": {"memory": "2Gi"}, "requests": {"memory": "1Gi"}}, "2Gi"),
        ({}, None),
    ],
)
def test_what_is_null_is_not_written(resources: JsonObject, expected: str | None) -> None:
    patch = {
        "(name)": "{{element.name}}",
        "resources": {"limits": {"+(memory)": MEMORY}, "requests": {"memory": MEMORY}},
    }
    entry = {
        "list": "request.object.spec.containers",
        "patchStrategicMerge": {"spec": {"containers": [patch]}},
    }
    made = (
        of_memory(limits={"memory": expected}, requests={"memory": expected})
        if expected
        else of_memory()
    )
    assert_makes({"foreach": [entry]}, of_memory(**resources), made)


def test_without_the_value_of_a_variable_a_mutation_fails() -> None:
    found = translated(
        mutating(merging({"metadata": {"labels": {"a": "{{ request.object.spec.hostname }}"}}}))
    )
    case = Case("p", "r", pod(), "pass", patched=pod())
    assert judged_by(case, found.policies, CATALOG)[0] == "error"


def test_what_may_be_null_beside_what_is_not() -> None:
    value = "{{ request.object.metadata.labels.a || request.object.metadata.labels.b }}"
    found = translated(mutating(merging({"metadata": {"annotations": {"a": value, "b": "c"}}})))
    assert found.reason == "a value that may be null, beside others"


def test_the_template_of_a_job_is_changed_when_it_is_created() -> None:
    every = kyverno_policy(
        {**mutating(of_spec(hostNetwork=True))["spec"]["rules"][0]}, annotations={}
    )
    found = translated(every)
    rules = {
        one["metadata"]["name"]: one["spec"]["matchConstraints"]["resourceRules"]
        for one in found.policies
    }
    assert [(one["resources"], one["operations"]) for one in rules["p-controllers"]] == [
        (["daemonsets", "deployments", "replicasets", "statefulsets"], ["CREATE", "UPDATE"]),
        (["jobs"], ["CREATE"]),
        (["replicationcontrollers"], ["CREATE", "UPDATE"]),
    ]
    assert [one["operations"] for one in rules["p-cronjobs"]] == [["CREATE", "UPDATE"]]
    assert any("changes Jobs only when they are created" in one for one in found.notes)
    # What is not in the template may change.
    labels = translated(mutating(merging({"metadata": {"labels": {"a": "b"}}}), "Job"))
    (one,) = labels.policies[0]["spec"]["matchConstraints"]["resourceRules"]
    assert one["operations"] == ["CREATE", "UPDATE"]
    assert not labels.notes


@pytest.mark.parametrize(("kind", "is_noted"), [("Pod", True), ("Service", False)])
def test_an_api_server_promises_no_order_of_policies(kind: str, is_noted: bool) -> None:
    patch = merging({"metadata": {"labels": {"a": "b"}}})
    (first,) = mutating(patch)["spec"]["rules"]
    (second,) = mutating(patch, kind)["spec"]["rules"]
    found = translate_document(kyverno_policy(first, {**second, "name": "s"}), CATALOG)
    assert [any("in any order" in note for note in one.notes) for one in found] == [is_noted] * 2
