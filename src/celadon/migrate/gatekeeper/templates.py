"""Gatekeeper's constraint templates, constraints and mutators as they stand in files.

A template says what is demanded, in CEL (engine `K8sNativeValidation`) or in Rego, and of which
kind its constraints are. A constraint says of which objects it is demanded, with which parameters,
and what happens to those that do not comply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.kube import JsonObject
from celadon.kube.json_types import Needed, Shape
from celadon.kube.well_known_values import GATEKEEPER_CONSTRAINTS

_TEMPLATES: Final = "templates.gatekeeper.sh"
_MUTATIONS: Final = "mutations.gatekeeper.sh"

_NAMED: Final[Shape] = [{"name": Needed(str), "expression": Needed(str)}]

TEMPLATE_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str), "annotations": {str: str}}),
    "spec": Needed(
        {
            "crd": Needed(
                {
                    "spec": Needed(
                        {
                            "names": Needed({"kind": Needed(str)}),
                            "validation": {"openAPIV3Schema": {}, "legacySchema": bool},
                        }
                    )
                }
            ),
            "targets": Needed(
                [
                    {
                        "rego": str,
                        "libs": [str],
                        "operations": [str],
                        "code": [
                            {
                                "engine": Needed(str),
                                "source": {
                                    "rego": str,
                                    "libs": [str],
                                    "failurePolicy": str,
                                    "variables": _NAMED,
                                    "matchCondition": _NAMED,
                                    "matchConditions": _NAMED,
                                    "validations": [
                                        {
                                            "expression": Needed(str),
                                            "message": str,
                                            "messageExpression": str,
                                        }
                                    ],
                                },
                            }
                        ],
                    }
                ]
            ),
        }
    ),
}
"""What a template must look like before it is read."""

_SELECTOR: Final[Shape] = {
    "matchLabels": {str: str},
    "matchExpressions": [{"key": Needed(str), "operator": Needed(str), "values": [str]}],
}

MATCH_SHAPE: Final[Shape] = {
    "kinds": [{"apiGroups": [str], "kinds": [str]}],
    "scope": str,
    "namespaces": [str],
    "excludedNamespaces": [str],
    "labelSelector": _SELECTOR,
    "namespaceSelector": _SELECTOR,
    "name": str,
    "source": str,
}
"""What must be true of the `match` of a constraint, or of a mutator."""

CONSTRAINT_SHAPE: Final[Shape] = {
    "kind": Needed(str),
    "metadata": Needed({"name": Needed(str), "annotations": {str: str}}),
    "spec": {
        "enforcementAction": str,
        "scopedEnforcementActions": [
            {"action": Needed(str), "enforcementPoints": [{"name": Needed(str)}]}
        ],
        "match": MATCH_SHAPE,
        "parameters": {},
    },
}
"""What a constraint must look like before it is read."""

MUTATOR_SHAPE: Final[Shape] = {
    "kind": Needed(str),
    "metadata": Needed({"name": Needed(str), "annotations": {str: str}}),
    "spec": Needed(
        {
            "applyTo": [{"groups": [str], "versions": [str], "kinds": [str], "operations": [str]}],
            "match": MATCH_SHAPE,
            "location": Needed(str),
            "parameters": {
                "pathTests": [{"subPath": Needed(str), "condition": Needed(str)}],
                "assign": {"fromMetadata": {"field": Needed(str)}},
                "operation": str,
                "values": {"fromList": []},
            },
        }
    ),
}
"""What a mutator must look like before it is read."""


@dataclass(frozen=True, slots=True)
class Source:
    """A template demands this, in CEL."""

    validations: tuple[JsonObject, ...]
    variables: tuple[JsonObject, ...] = ()
    match_conditions: tuple[JsonObject, ...] = ()
    failure_policy: str = "Fail"


@dataclass(frozen=True, slots=True)
class Template:
    """A constraint template."""

    name: str
    kind: str
    annotations: Mapping[str, str]
    parameters: JsonObject
    """The schema of its parameters; empty if there are none."""
    takes_all: bool
    """Whether parameters may have fields that the schema does not have."""
    source: Source | None
    """What is demanded, where the template says so in CEL."""
    rego: tuple[str, ...]
    """What is demanded, in Rego: the text and its libraries."""
    operations: tuple[str, ...]
    """Those that it names; empty if it names none."""
    targets: int


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint."""

    name: str
    kind: str
    match: JsonObject
    parameters: JsonObject
    action: str
    scoped: tuple[JsonObject, ...]


def is_template(value: object) -> bool:
    """Return whether a document is a constraint template."""
    return _group(value) == _TEMPLATES and _kind(value) == "ConstraintTemplate"


def is_constraint(value: object) -> bool:
    """Return whether a document is a constraint."""
    return _group(value) == GATEKEEPER_CONSTRAINTS


def is_mutator(value: object) -> bool:
    """Return whether a document is a mutator."""
    return _group(value) == _MUTATIONS


def _group(value: object) -> str:
    return str(value.get("apiVersion", "")).partition("/")[0] if isinstance(value, Mapping) else ""


def _kind(value: object) -> str:
    return str(value.get("kind", "")) if isinstance(value, Mapping) else ""


def read_template(value: JsonObject) -> Template:
    """Return a template. Its shape was checked before (`celadon.kube.json_types`)."""
    crd = value["spec"]["crd"]["spec"]
    targets: Sequence[JsonObject] = value["spec"]["targets"]
    # Gatekeeper takes exactly one target; whoever translates looks at `targets`.
    target: JsonObject = targets[0] if targets else {}
    validation: JsonObject = crd.get("validation") or {}
    sources = {item["engine"]: item.get("source") or {} for item in target.get("code") or ()}
    native = sources.get("K8sNativeValidation")
    return Template(
        value["metadata"]["name"],
        crd["names"]["kind"],
        value["metadata"].get("annotations") or {},
        validation.get("openAPIV3Schema") or {},
        # Gatekeeper's default, which is another one in `v1` (`apis/templates/v1beta1`).
        bool(validation.get("legacySchema", not value["apiVersion"].endswith("/v1"))),
        None if native is None else _source(native),
        # The older field goes before the list of engines, which came later.
        tuple(_rego(target)) or tuple(_rego(sources.get("Rego") or {})),
        tuple(target.get("operations") or ()),
        len(targets),
    )


def _source(value: JsonObject) -> Source:
    return Source(
        tuple(value.get("validations") or ()),
        tuple(value.get("variables") or ()),
        (*(value.get("matchCondition") or ()), *(value.get("matchConditions") or ())),
        value.get("failurePolicy") or "Fail",
    )


def _rego(value: JsonObject) -> Iterator[str]:
    if value.get("rego"):
        yield value["rego"]
        yield from value.get("libs") or ()


def read_constraint(value: JsonObject) -> Constraint:
    """Return a constraint. Its shape was checked before."""
    spec = value.get("spec") or {}
    return Constraint(
        value["metadata"]["name"],
        value["kind"],
        spec.get("match") or {},
        spec.get("parameters") or {},
        # Gatekeeper's default.
        spec.get("enforcementAction") or "deny",
        tuple(spec.get("scopedEnforcementActions") or ()),
    )
