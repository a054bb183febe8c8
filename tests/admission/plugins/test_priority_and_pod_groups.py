"""Priority, as far as it refuses or keeps."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import ObjectWorld
from celadon.admission.plugins import PluginChain
from celadon.kube.resources import known_resources
from tests.admission.plugins.asking import asked, mutated, obj, pod, refusal, world
from tests.admission.plugins.asking import text as said


def priority_class(name: str, value: int, **members: Any) -> dict[str, Any]:
    return obj("PriorityClass", name, "scheduling.k8s.io/v1", value=value, **members)


HIGH = priority_class("high", 100, preemptionPolicy="Never")
USUAL = priority_class("usual", 7, globalDefault=True)
COMPUTED = "priority admission controller computed"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"priorityClassName": "high", "priority": 100, "preemptionPolicy": "Never"}, ""),
        ({"priority": 7}, ""),
        ({"priorityClassName": "system-node-critical"}, ""),
        ({"priorityClassName": "no"}, "no PriorityClass with name no was found"),
        (
            {"priorityClassName": "high", "priority": 1},
            "the integer value of priority (1) must not be provided in pod spec; "
            f"{COMPUTED} 100 from the given PriorityClass name",
        ),
        (
            {"priority": 0},
            "the integer value of priority (0) must not be provided in pod spec; "
            f"{COMPUTED} 7 from the given PriorityClass name",
        ),
        (
            {"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"},
            "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in "
            f"pod spec; {COMPUTED} Never from the given PriorityClass name",
        ),
    ],
)
def test_pods(spec: dict[str, Any], text: str) -> None:
    expected = f'403 pods "p" is forbidden: {text}' if text else ""
    assert mutated("Priority", asked(pod(**spec)), world(HIGH, USUAL))[1] == expected


def test_updates_keep_what_they_do_not_name() -> None:
    old = pod(priority=5, preemptionPolicy="Never")
    made, refused = mutated("Priority", asked(pod(), old))
    assert refused == ""
    assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (5, "Never")
    assert mutated("Priority", asked(pod(priority=6), old))[0]["spec"]["priority"] == 6


def test_one_class_is_the_default() -> None:
    more = priority_class("more", 9, globalDefault=True)
    text = (
        '403 priorityclasses.scheduling.k8s.io "more" is forbidden: PriorityClass usual is already '
        "marked as default. Only one default can exist"
    )
    assert refusal("Priority", asked(more), world(USUAL)) == text
    assert refusal("Priority", asked(more, HIGH), world(USUAL)) == text
    assert refusal("Priority", asked(USUAL, USUAL), world(USUAL)) == ""
    assert refusal("Priority", asked(more), world(HIGH)) == ""
    assert refusal("Priority", asked(HIGH), world(USUAL)) == ""


@pytest.mark.parametrize("name", ["usual", "", "system-cluster-critical"])
def test_classes_that_say_nothing_of_preemption(name: str) -> None:
    spec: dict[str, Any] = {"priorityClassName": name} if name else {}
    around = world(HIGH, USUAL) if name != "" else world()
    usual = pod(**spec, preemptionPolicy="PreemptLowerPriority")
    assert mutated("Priority", asked(usual), around)[1] == ""
    never = pod(**spec, preemptionPolicy="Never")
    assert mutated("Priority", asked(never), around)[1] == (
        '403 pods "p" is forbidden: the string value of PreemptionPolicy (Never) must not be '
        f"provided in pod spec; {COMPUTED} PreemptLowerPriority from the given PriorityClass name"
    )


# --- groups of pods ---

SCHEDULING = "scheduling.k8s.io/v1alpha2"
GROUP = '403 podgroups.scheduling.k8s.io "g" is forbidden: '


def group(meta: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    made = obj("PodGroup", "g", SCHEDULING, spec=spec)
    made["metadata"] |= {"namespace": "ns", **(meta or {})}
    return made


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({}, ""),
        ({"priority": 7}, ""),
        ({"priorityClassName": "high"}, ""),
        ({"priorityClassName": "high", "priority": 100}, ""),
        ({"priorityClassName": "system-node-critical", "priority": 2_000_001_000}, ""),
        ({"priorityClassName": "no"}, "no PriorityClass with name no was found"),
        (
            {"priorityClassName": "high", "priority": 1},
            "priority set in the pod group (1) must match the priority computed (100) based on the "
            "priority class set in the spec",
        ),
        (
            {"priority": 0},
            "priority set in the pod group (0) must match the priority computed (7) based on the "
            "priority class set in the spec",
        ),
    ],
)
def test_priorities_of_groups(spec: dict[str, Any], text: str) -> None:
    """Nobody looks at them without a gate."""
    request, around = asked(group(**spec)), world(HIGH, USUAL)
    chain = PluginChain({"Priority"}, gates={"WorkloadAwarePreemption": True})
    found = chain.admit_again(group(**spec), request, around)
    assert said(found) == (text and GROUP + text)
    assert PluginChain({"Priority"}).admit_again(group(**spec), request, around) is None
    assert chain.admit_again(group(**spec), request, around, lambda *_: False) is None


def test_groups_without_a_class_that_is_the_default() -> None:
    chain = PluginChain({"Priority"}, gates={"WorkloadAwarePreemption": True})
    for priority, is_refused in ((0, False), (1, True)):
        made = group(priority=priority)
        assert (chain.admit_again(made, asked(made), world(HIGH)) is not None) is is_refused


def gated(objects: list[dict[str, Any]]) -> ObjectWorld:
    """A world that has kinds of all gates."""
    return ObjectWorld(objects, catalog=known_resources(all_versions=True))


def workload(meta: dict[str, Any] | None = None) -> dict[str, Any]:
    templates = [{"name": "one"}, {"name": "two"}]
    made = obj("Workload", "w", SCHEDULING, spec={"podGroupTemplates": templates})
    made["metadata"] |= {"namespace": "ns", **(meta or {})}
    return made


@pytest.mark.parametrize(
    ("reference", "there", "text"),
    [
        (None, None, ""),
        (("w", "two"), workload(), ""),
        (("w", "two"), None, 'Workload "w" not found'),
        (
            ("w", "two"),
            workload({"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            'Workload "w" is being deleted',
        ),
        (("w", "three"), workload(), 'PodGroupTemplate "three" not found in Workload "w"'),
    ],
)
def test_the_workload_of_a_group(
    reference: tuple[str, str] | None, there: dict[str, Any] | None, text: str
) -> None:
    spec: dict[str, Any] = {}
    if reference is not None:
        name, template = reference
        named = {"workloadName": name, "podGroupTemplateName": template}
        spec = {"podGroupTemplateRef": {"workload": named}}
    around = gated([] if there is None else [there])
    found = refusal("PodGroupWorkloadExists", asked(group(**spec)), around)
    assert found == (text and f"{GROUP}PodGroup rejected: {text}")


def job(parallelism: int, group_name: str | None = None) -> dict[str, Any]:
    pods = {} if group_name is None else {"schedulingGroup": {"podGroupName": group_name}}
    made = obj(
        "Job", "j", "batch/v1", spec={"parallelism": parallelism, "template": {"spec": pods}}
    )
    made["metadata"] |= {"namespace": "ns", "uid": "u"}
    return made


GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}
OWNED = {"ownerReferences": [{"uid": "x"}, {"uid": "u", "controller": True}]}
FOREIGN = {"ownerReferences": [{"uid": "u"}, {"uid": "x", "controller": True}]}


@pytest.mark.parametrize(
    ("old", "new", "there", "is_refused"),
    [
        (job(2, "g"), job(3, "g"), group(**GANG), True),
        (job(2, "g"), job(2, "g"), group(**GANG), False),
        (job(2, "g"), job(3, "g"), group(schedulingPolicy={"basic": {}}), False),
        (job(2, "g"), job(3, "g"), group(), False),
        (job(2, "other"), job(3, "other"), group(**GANG), False),
        (job(2), job(3), group(OWNED, **GANG), True),
        (job(2), job(3), group(FOREIGN, **GANG), False),
        (job(2), job(3), group(**GANG), False),
    ],
)
def test_jobs_whose_pods_are_scheduled_together(
    old: dict[str, Any], new: dict[str, Any], there: dict[str, Any], is_refused: bool
) -> None:
    found = refusal("JobValidation", asked(new, old), gated([there]))
    text = (
        '403 jobs.batch "j" is forbidden: cannot change parallelism for a Job referencing '
        'gang-scheduled PodGroup "g"'
    )
    assert found == (text if is_refused else "")
