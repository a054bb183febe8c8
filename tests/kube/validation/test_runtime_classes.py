"""What is said against RuntimeClasses, and against templates of pods on their own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.validation.objects import complaints, obj, pod_spec, update_complaints


def runtime_class(**fields: Any) -> dict[str, Any]:
    return obj("node.k8s.io/v1", "RuntimeClass", **{"handler": "runc", **fields})


def test_a_good_one() -> None:
    alike = {"key": "k", "operator": "Exists", "value": "", "effect": "NoExecute"}
    others = [{"key": "l"}, {"operator": "Equal", "value": "v"}, {"effect": "NoSchedule"}]
    tolerations = [alike, *({**alike, **other} for other in others)]
    scheduling = {"nodeSelector": {"a": "b"}, "tolerations": tolerations}
    overhead = {"podFixed": {"cpu": "1", "memory": "1Gi"}}
    assert complaints(runtime_class(overhead=overhead, scheduling=scheduling)) == []


@pytest.mark.parametrize(
    ("fields", "start"),
    [
        ({"handler": ""}, "handler: Required value"),
        (
            {"scheduling": {"tolerations": [{"key": "k", "operator": "Exists"}] * 2}},
            'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Exists",',
        ),
        ({"handler": "A"}, 'handler: Invalid value: "A": a lowercase RFC 1123 label'),
        (
            {"overhead": {"podFixed": {"cpu": "-1"}}},
            'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        ),
        (
            {"scheduling": {"nodeSelector": {"a": "b c"}}},
            'scheduling.nodeSelector: Invalid value: "b c": a valid label must be',
        ),
        (
            {"scheduling": {"tolerations": [{"operator": "Equal"}]}},
            'scheduling.tolerations[0].operator: Invalid value: "Equal": operator must be Exists',
        ),
    ],
)
def test_complaints(fields: dict[str, Any], start: str) -> None:
    (found,) = complaints(runtime_class(**fields))
    assert found.startswith(start)


def test_the_handler_stays() -> None:
    assert update_complaints(runtime_class(), runtime_class(handler="other")) == [
        'handler: Invalid value: "runc": field is immutable'
    ]


def test_a_changed_one_is_judged_as_a_new_one() -> None:
    changed = runtime_class(scheduling={"tolerations": [{"operator": "Equal"}]})
    (found,) = update_complaints(changed, runtime_class())
    assert found.startswith('scheduling.tolerations[0].operator: Invalid value: "Equal"')


def test_templates_of_pods() -> None:
    template = {"metadata": {"labels": {"a": "b c"}}, "spec": pod_spec()}
    (found,) = complaints(obj("v1", "PodTemplate", template=template))
    assert found.startswith('template.labels: Invalid value: "b c"')
    assert complaints(obj("v1", "PodTemplate", template={"spec": pod_spec()})) == []
