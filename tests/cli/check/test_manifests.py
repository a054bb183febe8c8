"""What documents are taken for: which kinds there are at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.registration import POLICY_KIND
from celadon.cli.check.manifests import Parts, described, gather, unknown_kind
from tests.cli.check.test_given_cluster import documents
from tests.cli.files import Json

DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gizmos.example.com"},
    "spec": {"group": "example.com", "names": {"plural": "gizmos", "kind": "Gizmo"}},
}
WIDGET: Json = {"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"name": "w"}}


@pytest.mark.parametrize(
    ("given", "parts", "wrong"),
    [
        ([], {"lookup": {"configmap"}, "admit": {"pod"}}, ""),
        ([], {"lookup": {"configmaps"}}, "no kind `configmaps`, did you mean `configmap`?"),
        ([], {"admit": {"gizmo"}}, "no kind `gizmo`"),
        ([DEFINITION], {"admit": {"gizmo"}}, ""),
        ([DEFINITION], {"lookup": {"gizmo"}}, ""),
        ([{**DEFINITION, "spec": {}}], {"admit": {"gizmo"}}, "no kind `gizmo`"),
        ([{**DEFINITION, "spec": {"names": []}}], {"admit": {"gizmo"}}, "no kind `gizmo`"),
        ([WIDGET], {"admit": {"widget"}}, ""),
        ([WIDGET], {"admit": {"widgetx"}}, "no kind `widgetx`, did you mean `widget`?"),
    ],
)
def test_kinds_that_nobody_knows(given: list[Json], parts: dict[str, Any], wrong: str) -> None:
    """Those of the documents and of definitions among them are known."""
    found = unknown_kind(Parts(**parts), described(documents(*given)))
    assert found.startswith(wrong) if wrong == "no kind `gizmo`" else found == wrong


def test_what_describes_a_cluster_and_what_is_admitted_there() -> None:
    """What judges is in force on either side; nothing else changes sides."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    judging, binding = policy("x.io/v1"), {**policy("x.io/v1"), "kind": f"{POLICY_KIND}Binding"}
    found = described(documents(WIDGET, judging), documents(namespace, binding), documents(WIDGET))
    parts = (found.looked_up, found.policies, found.bindings, found.admitted, found.old)
    assert [[document.value for document in part] for part in parts] == [
        *([WIDGET], [judging], [binding], [namespace], [WIDGET]),
    ]


def policy(api_version: str) -> Json:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {"paramKind": {"apiVersion": api_version, "kind": "Widget"}},
    }


@pytest.mark.parametrize(
    ("policies", "parts", "admits"),
    [
        ([policy("x.io/v1")], {}, False),
        ([policy("x.io/v1")], {"admit": ["Widget"]}, True),
        ([], {}, True),
        ([policy("y.io/v1")], {}, True),
        ([policy("v1")], {}, True),
    ],
)
def test_params_are_looked_up_where_nothing_is_a_resource(
    tmp_path: Path, policies: list[Json], parts: dict[str, list[str]], admits: bool
) -> None:
    for number, value in enumerate((*policies, WIDGET)):
        (tmp_path / f"{number}.json").write_text(json.dumps(value))
    parts_of_kinds = Parts.of(parts.get("lookup", ()), parts.get("admit", ()))
    found = gather([str(tmp_path)], [], [], parts_of_kinds, lambda _: None)
    assert [document.value for document in found.admitted] == [WIDGET] * admits
    assert [document.value for document in found.looked_up] == [WIDGET] * (not admits)
