"""RuntimeClass, as far as it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.admission.plugins.asking import asked, mutated, obj, pod, refusal, world

SANDBOX = obj(
    "RuntimeClass",
    "sandbox",
    "node.k8s.io/v1",
    handler="h",
    overhead={"podFixed": {"cpu": "250m"}},
    scheduling={"nodeSelector": {"sandboxed": "yes"}},
)
PLAIN = obj("RuntimeClass", "plain", "node.k8s.io/v1", handler="h")
OTHER = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
STRANGE = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


@pytest.mark.parametrize(
    ("spec", "first", "second"),
    [
        ({}, "", ""),
        ({"runtimeClassName": "plain"}, "", ""),
        ({"runtimeClassName": "sandbox", "overhead": {"cpu": "0.25"}}, "", ""),
        ({"runtimeClassName": "sandbox"}, "", OTHER),
        ({"runtimeClassName": "sandbox", "overhead": {"cpu": "1"}}, OTHER, OTHER),
        ({"runtimeClassName": "plain", "overhead": {"cpu": "1"}}, "", STRANGE),
        ({"overhead": {"cpu": "1"}}, "", STRANGE),
        (
            {"runtimeClassName": "no"},
            'pod rejected: RuntimeClass "no" not found',
            'pod rejected: RuntimeClass "no" not found',
        ),
        (
            {"runtimeClassName": "sandbox", "nodeSelector": {"sandboxed": "no"}},
            "conflict: runtimeClass.scheduling.nodeSelector[sandboxed] = yes; "
            "pod.spec.nodeSelector[sandboxed] = no",
            OTHER,
        ),
    ],
)
def test_pods(spec: dict[str, Any], first: str, second: str) -> None:
    around = world(SANDBOX, PLAIN)
    before = 'pods "p" is forbidden: '
    assert mutated("RuntimeClass", asked(pod(**spec)), around)[1] == (
        f"403 {before}{first}" if first else ""
    )
    assert refusal("RuntimeClass", asked(pod(**spec)), around) == (
        f"403 {before}{second}" if second else ""
    )


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../x", "invalid resource name \"../x\": [may not contain '/']"),
        ("", "resource name may not be empty"),
    ],
)
def test_a_name_that_no_path_can_have_is_not_asked_for(name: str, why: str) -> None:
    request = asked(pod(runtimeClassName=name))
    assert mutated("RuntimeClass", request)[1] == f"500 {why}"
    assert refusal("RuntimeClass", request) == f"500 {why}"


def test_updates_are_not_looked_at() -> None:
    assert refusal("RuntimeClass", asked(pod(overhead={"cpu": "1"}), pod())) == ""
