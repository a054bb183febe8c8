"""Policies of Kyverno that are written in CEL (`policies.kyverno.io`), as admission policies.

A `ValidatingPolicy` has the fields of an admission policy and a few of its own: what it is bound to
stands in it, and it may be meant for the controllers of Pods, too. What it says in Kyverno's own
libraries (`resource.Get`, `http.Get`, images) does not compile here, and is not translated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.kube import JsonObject
from celadon.kube.json_types import Needed, Shape
from celadon.migrate.kyverno.policies import TEMPLATES
from celadon.migrate.losses import NotTranslated
from celadon.migrate.translations import (
    Origin,
    Translation,
    binding_document,
    policy_document,
)

CEL_KINDS: Final = ("ValidatingPolicy", "NamespacedValidatingPolicy")

CEL_POLICY_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str), "namespace": str, "annotations": {str: str}}),
    "spec": Needed(
        {
            "autogen": {"podControllers": {"controllers": [str]}},
            "evaluation": {"mode": str},
            "validationActions": [str],
            "failurePolicy": str,
            "matchConstraints": Needed({"resourceRules": Needed([{"resources": Needed([str])}])}),
            "matchConditions": [{"name": Needed(str), "expression": Needed(str)}],
            "variables": [{"name": Needed(str), "expression": Needed(str)}],
            "validations": [{"expression": Needed(str)}],
            "auditAnnotations": [{"key": Needed(str), "valueExpression": Needed(str)}],
        }
    ),
}
"""What a policy must look like before it is read."""

_KEPT: Final = (
    "failurePolicy",
    "matchConstraints",
    "matchConditions",
    "variables",
    "validations",
    "auditAnnotations",
)
_WITHOUT_MEANING: Final = {"autogen", "evaluation", "validationActions", "webhookConfiguration"}
"""What is said of Kyverno itself, or stands in the binding."""

_CONTROLLERS: Final[Mapping[str, str]] = {
    "daemonsets": "apps",
    "deployments": "apps",
    "replicasets": "apps",
    "statefulsets": "apps",
    "jobs": "batch",
    "cronjobs": "batch",
}


def is_cel_policy(value: object) -> bool:
    """Return whether a document is a policy that is read here."""
    return (
        isinstance(value, Mapping)
        and str(value.get("apiVersion", "")).startswith("policies.kyverno.io/")
        and value.get("kind") in CEL_KINDS
    )


def translate_cel_policy(policy: JsonObject) -> Translation:
    """Return what becomes of a policy."""
    name = policy["metadata"]["name"]
    origin = Origin(name, "", (), "validate")
    annotations = policy["metadata"].get("annotations") or {}
    actions = policy["spec"].get("validationActions") or ["Deny"]
    documents: list[JsonObject] = []
    try:
        for suffix, spec in _specs(policy):
            parts = [name, suffix] if suffix else [name]
            document = policy_document(parts, annotations, spec)
            documents += [document, binding_document(document, actions)]
    except NotTranslated as error:
        return Translation(origin, reason=error.reason, instead=error.instead)
    return Translation(origin, tuple(documents))


def _specs(policy: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Return the specs that a policy stands for, each with the suffix of its name. Raises
    NotTranslated."""
    spec = policy["spec"]
    unknown = sorted(set(spec) - {*_KEPT, *_WITHOUT_MEANING})
    if unknown:
        raise NotTranslated(f"`{unknown[0]}`")
    if (spec.get("evaluation") or {}).get("mode", "Kubernetes") != "Kubernetes":
        raise NotTranslated("a policy for data that is no object of Kubernetes")
    kept = {name: spec[name] for name in _KEPT if spec.get(name)}
    if policy["kind"] == "NamespacedValidatingPolicy":
        kept["matchConditions"] = [_in_namespace(policy), *(kept.get("matchConditions") or ())]
    yield "", kept
    if not _is_for_pods(spec["matchConstraints"]):
        return
    controllers = _controllers(spec)
    templates = [one for one in controllers if one != "cronjobs"]
    if templates:
        yield "controllers", _shifted(kept, templates, ".".join(TEMPLATES["Deployment"]))
    if "cronjobs" in controllers:
        yield "cronjobs", _shifted(kept, ["cronjobs"], ".".join(TEMPLATES["CronJob"]))


def _in_namespace(policy: JsonObject) -> JsonObject:
    namespace = policy["metadata"].get("namespace") or "default"
    return {"name": "is-in-namespace", "expression": f"request.namespace == '{namespace}'"}


def _controllers(spec: JsonObject) -> list[str]:
    """Return the controllers that a policy for Pods is meant for, too: all where none are named."""
    given = (spec.get("autogen") or {}).get("podControllers") or {}
    named = given.get("controllers")
    return [one for one in _CONTROLLERS if named is None or one in named]


def _is_for_pods(match: JsonObject) -> bool:
    rules = match["resourceRules"]
    selector = match.get("objectSelector") or {}
    return (
        not any(selector.values())
        and not match.get("excludeResourceRules")
        and len(rules) == 1
        and rules[0].get("apiGroups") == [""]
        and rules[0].get("apiVersions") == ["v1"]
        and rules[0]["resources"] == ["pods"]
        and not rules[0].get("resourceNames")
    )


def _shifted(spec: JsonObject, controllers: Sequence[str], path: str) -> JsonObject:
    """Return a spec for Pods as one for kinds that have a Pod at a path."""
    match = spec["matchConstraints"]
    by_group: dict[str, list[str]] = {}
    for one in controllers:
        by_group.setdefault(_CONTROLLERS[one], []).append(one)
    rules = [
        {
            "apiGroups": [group],
            "apiVersions": ["v1"],
            "operations": match["resourceRules"][0].get("operations") or ["CREATE", "UPDATE"],
            "resources": resources,
        }
        for group, resources in by_group.items()
    ]
    below: dict[str, Any] = {name: one for name, one in spec.items() if name != "matchConstraints"}
    text = json.dumps(below)
    text = re.sub(r"(?<![A-Za-z])(object|oldObject)\.spec\b", rf"\1.{path}.spec", text)
    own = r"(?<![A-Za-z])(object|oldObject)\.metadata\b(?!\.namespace\b)"
    text = re.sub(own, rf"\1.{path}.metadata", text)
    made: dict[str, Any] = json.loads(text)
    constraints: dict[str, Any] = {"resourceRules": rules}
    if match.get("namespaceSelector"):
        constraints["namespaceSelector"] = match["namespaceSelector"]
    return {**made, "matchConstraints": constraints}
