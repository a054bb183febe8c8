"""Policies of Kyverno for tests, and what their translation says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.kube import Json, JsonObject
from celadon.kube.resources import known_resources
from celadon.migrate import Case, Translation, judged_by, translate_document

CATALOG = known_resources()


def kyverno_policy(
    *rules: JsonObject,
    kind: str = "ClusterPolicy",
    annotations: JsonObject | None = None,
    **spec: Json,
) -> dict[str, Any]:
    """Rules for Pods only, unless the annotations say otherwise."""
    none = {"pod-policies.kyverno.io/autogen-controllers": "none"}
    return {
        "apiVersion": "kyverno.io/v1",
        "kind": kind,
        "metadata": {"name": "p", "annotations": none if annotations is None else annotations},
        "spec": {**spec, "rules": list(rules)},
    }


def rule(validate: JsonObject, kinds: Sequence[str] = ("Pod",), **more: Json) -> dict[str, Any]:
    """A rule that validates."""
    match = {"any": [{"resources": {"kinds": list(kinds)}}]}
    return {"name": "r", "match": match, "validate": validate, **more}


def translated(document: JsonObject) -> Translation:
    """What became of the first rule."""
    return translate_document(document, CATALOG)[0]


def validation(validate: JsonObject, kinds: Sequence[str] = ("Pod",), **more: Json) -> str:
    """The one expression that a rule demands."""
    found = translated(kyverno_policy(rule(validate, kinds, **more)))
    assert not found.reason, found.reason
    (policy,) = found.policies
    (one,) = policy["spec"]["validations"]
    expression: str = one["expression"]
    return expression


def result(translation: Translation, obj: JsonObject, **case: Any) -> str:
    """What the translation says of an object: `pass`, `fail`, `skip`."""
    return judged_by(Case("p", "r", obj, "", **case), translation.policies, CATALOG)[0]


def pod(spec: JsonObject | None = None, **metadata: Json) -> dict[str, Any]:
    """A Pod with one container, unless the spec says otherwise."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": "default", **metadata},
        "spec": {"containers": [{"name": "c", "image": "nginx:1"}], **(spec or {})},
    }
