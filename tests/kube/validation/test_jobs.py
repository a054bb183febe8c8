"""What may change of a Job, above all of one that is suspended."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from celadon.kube import metadata
from celadon.kube.registry.decoded_object import drafted
from celadon.kube.registry.update import prepare_for_update
from celadon.kube.validation.built_in_validations import validate_update
from tests.kube.validation.objects import admitted, complaints, container, job, pod_spec

Json = dict[str, Any]
NODES = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
    }
}
OTHERS = {
    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a", "labelSelector": {}}]
}
GATE = {"name": "a.b/c"}


def stored(status: Json | None = None, **pods: Any) -> Json:
    """A Job as it is kept: suspended, and with this status."""
    spec = pod_spec(container(resources={"requests": {"cpu": "1"}}), restartPolicy="Never", **pods)
    made = admitted(job(suspend=True, template={"spec": spec}))
    made["metadata"]["resourceVersion"] = "1"
    return {**made, "status": status or {}}


def changed(old: Json, change: Callable[[Json], object]) -> list[str]:
    """What is said when the template, or another part of the spec, is changed."""
    new = copy.deepcopy(old)
    change(new["spec"])
    kind = metadata.gvk(old)
    made = prepare_for_update(drafted(new, kind), old)
    return list(dict.fromkeys(str(error) for error in validate_update(made, old, kind)))


def pods(**fields: Any) -> Callable[[Json], object]:
    return lambda spec: spec["template"]["spec"].update(fields)


def labels(spec: Json) -> None:
    spec["template"]["metadata"]["labels"]["x"] = "y"


def notes(spec: Json) -> None:
    spec["template"]["metadata"]["annotations"] = {"x": "y"}


def amounts(spec: Json) -> None:
    spec["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "2"}}


def resumed(spec: Json) -> None:
    spec["suspend"] = False
    labels(spec)
    pods(nodeSelector={"a": "b"})(spec)


FREE: dict[str, Callable[[Json], object]] = {
    "labels": labels,
    "annotations": notes,
    "node selector": pods(nodeSelector={"a": "b"}),
    "tolerations": pods(tolerations=[{"operator": "Exists"}]),
    "scheduling gates": pods(schedulingGates=[GATE]),
    "node affinity": pods(affinity={"nodeAffinity": NODES}),
    "an affinity with nothing in it": pods(affinity={}),
    "resources": amounts,
    "with the update that resumes": resumed,
}


@pytest.mark.parametrize("name", FREE)
def test_what_may_change_of_a_suspended_job(name: str) -> None:
    assert changed(stored(), FREE[name]) == []


@pytest.mark.parametrize(
    "change",
    [
        pods(containers=[container(image="other")]),
        pods(affinity={"podAffinity": OTHERS}),
        pods(hostNetwork=True),
        pods(initContainers=[container(name="i")]),
    ],
)
def test_what_stays_even_then(change: Callable[[Json], object]) -> None:
    (found,) = changed(stored(), change)
    assert found.startswith('spec.template.spec: Invalid value: {"Volumes":null,')
    assert found.endswith("field is immutable")


def test_node_affinity_goes_and_the_rest_stays() -> None:
    alone = stored(affinity={"nodeAffinity": NODES})
    assert changed(alone, lambda spec: spec["template"]["spec"].pop("affinity")) == []
    both = stored(affinity={"nodeAffinity": NODES, "podAffinity": OTHERS})
    assert changed(both, lambda spec: spec["template"]["spec"]["affinity"].pop("nodeAffinity")) == (
        []
    )
    assert len(changed(both, lambda spec: spec["template"]["spec"].pop("affinity"))) == 1


SUSPENDED = [{"type": "Suspended", "status": "True"}]


@pytest.mark.parametrize(
    ("status", "may"),
    [
        ({}, True),
        ({"startTime": "2026-01-01T00:00:00Z"}, False),
        ({"startTime": "2026-01-01T00:00:00Z", "conditions": SUSPENDED}, True),
        ({"active": 1}, False),
    ],
)
def test_when_it_may_change(status: Json, may: bool) -> None:
    found = changed(stored(status), labels)
    assert found == [] if may else found[0].startswith("spec.template: Invalid value: ")


def test_a_job_that_runs_keeps_its_template() -> None:
    running = stored()
    running["spec"]["suspend"] = False
    assert changed(running, labels)[0].startswith("spec.template: Invalid value: ")
    assert changed(running, amounts)[0].startswith("spec.template: Invalid value: ")


def test_a_changed_job_is_looked_at_as_a_new_one() -> None:
    """So complaints come twice, as causes do."""
    old = stored()
    new = copy.deepcopy(old)
    new["spec"]["parallelism"] = -1
    kind = metadata.gvk(old)
    found = validate_update(prepare_for_update(drafted(new, kind), old), old, kind)
    assert [str(one.path) for one in found] == ["spec.parallelism"] * 2


def test_policies_stay_and_are_shown_as_structs() -> None:
    rule = {"action": "Ignore", "onPodConditions": [{"type": "A", "status": "True"}]}
    assert changed(stored(), lambda spec: spec.update(podFailurePolicy={"rules": [rule]}))[-1] == (
        'spec.podFailurePolicy: Invalid value: {"Rules":[{"Action":"Ignore","OnExitCodes":null,'
        '"OnPodConditions":[{"Type":"A","Status":"True"}]}]}: field is immutable'
    )


@pytest.mark.parametrize(
    ("policy", "shown"),
    [({}, '{"Rules":null}'), ({"rules": []}, '{"Rules":[]}')],
)
def test_success_of_what_is_not_indexed(policy: Json, shown: str) -> None:
    assert complaints(job(successPolicy=policy)) == [
        f"spec.successPolicy: Invalid value: {shown}: requires indexed completion mode"
    ]


def test_a_failure_policy_without_rules_is_one() -> None:
    assert complaints(job(podFailurePolicy={})) == []
    assert admitted(job(podFailurePolicy={}))["spec"]["podReplacementPolicy"] == "Failed"
