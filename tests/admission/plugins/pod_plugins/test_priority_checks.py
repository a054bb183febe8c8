"""Priority, as far as it refuses or keeps."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.plugins.asking import asked, mutated, obj, pod, refusal, world


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
