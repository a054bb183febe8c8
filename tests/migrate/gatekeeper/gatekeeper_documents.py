"""Templates and constraints of Gatekeeper for tests, and what their translation says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.kube import Json, JsonObject
from celadon.kube.resources import known_resources
from celadon.migrate import GatorCase, Translation, disagreement, translate_constraints

CATALOG = known_resources()

SCHEMA: JsonObject = {"type": "object", "properties": {"most": {"type": "integer"}}}


def template(
    source: JsonObject | None = None,
    schema: JsonObject | None = None,
    kind: str = "Demand",
    rego: str = "",
    **target: Json,
) -> dict[str, Any]:
    """A template that demands what a source says in CEL, or Rego."""
    code: list[Json] = []
    if source is not None:
        code.append({"engine": "K8sNativeValidation", "source": source})
    if rego:
        code.append({"engine": "Rego", "source": {"rego": rego}})
    crd: dict[str, Any] = {"names": {"kind": kind}}
    if schema is not None:
        crd["validation"] = {"openAPIV3Schema": schema}
    return {
        "apiVersion": "templates.gatekeeper.sh/v1",
        "kind": "ConstraintTemplate",
        "metadata": {"name": kind.lower(), "annotations": {"description": "Demands."}},
        "spec": {
            "crd": {"spec": crd},
            "targets": [{"target": "admission.k8s.gatekeeper.sh", "code": code, **target}],
        },
    }


def says(expression: str, message: str = "no", **more: Json) -> dict[str, Any]:
    """A source with one validation."""
    return {"validations": [{"expression": expression, "message": message}], **more}


def constraint(
    match: JsonObject | None = None,
    parameters: JsonObject | None = None,
    kind: str = "Demand",
    name: str = "all",
    **spec: Json,
) -> dict[str, Any]:
    """A constraint for Pods, unless it says otherwise."""
    pods: JsonObject = {"kinds": [{"apiGroups": [""], "kinds": ["Pod"]}]}
    made: dict[str, Any] = {"match": pods if match is None else match, **spec}
    if parameters is not None:
        made["parameters"] = parameters
    return {
        "apiVersion": "constraints.gatekeeper.sh/v1beta1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": made,
    }


def translated(demand: JsonObject, *constraints: JsonObject) -> list[Translation]:
    """What becomes of constraints."""
    return translate_constraints(demand, constraints, CATALOG)


def of_kind(translation: Translation, kind: str) -> dict[str, Any]:
    """The document of a kind, without its prefix `ValidatingAdmission`."""
    assert not translation.reason, translation.reason
    (found,) = (
        one
        for one in translation.documents
        if one["kind"].removeprefix("ValidatingAdmission") == kind
    )
    return dict(found)


def refusal(translation: Translation, obj: JsonObject, inventory: Sequence[JsonObject] = ()) -> str:
    """The message with which an object, or the object of a review, is refused; empty if it is
    not."""
    assert not translation.reason, translation.reason
    case = GatorCase("", obj, tuple(inventory), ({"violations": "no"},))
    return disagreement(case, translation.documents, CATALOG)[2]


def pod(*containers: JsonObject, **spec: Json) -> dict[str, Any]:
    """A Pod with containers, each of which has a name and an image."""
    given = [{"name": "c", "image": "nginx:1", **one} for one in containers or ({},)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"containers": given, **spec},
    }


def review(operation: str, obj: JsonObject | None, old: JsonObject | None = None) -> JsonObject:
    """A review of a request."""
    asked: dict[str, Any] = {"operation": operation, "userInfo": {"username": "eve"}}
    if obj is not None:
        asked["object"] = obj
    if old is not None:
        asked["oldObject"] = old
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
