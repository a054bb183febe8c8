"""Where expressions stand in objects: the fields of each kind, and the rules in schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.cli.reading.json_places import Path
from celadon.kube.well_known_values import (
    ADMISSION_REGISTRATION,
    DEFINITION_KIND,
    DYNAMIC_RESOURCES,
)

Pattern = tuple[str, ...]

_EACH: Final = "*"
"""Stands for every item of a list."""
_CONDITIONS: Final[Pattern] = ("matchConditions", _EACH, "expression")
_VARIABLES: Final[Pattern] = ("spec", "variables", _EACH, "expression")
_WEBHOOKS: Final[tuple[Pattern, ...]] = (("webhooks", _EACH, *_CONDITIONS),)
_DEVICES: Final[Pattern] = ("selectors", _EACH, "cel", "expression")
_CLAIM: Final[tuple[Pattern, ...]] = (
    ("devices", "requests", _EACH, *_DEVICES),
    ("devices", "requests", _EACH, "exactly", *_DEVICES),
    ("devices", "requests", _EACH, "firstAvailable", _EACH, *_DEVICES),
)

_FIELDS: Final[Mapping[tuple[str, str], tuple[Pattern, ...]]] = {
    (ADMISSION_REGISTRATION, "ValidatingAdmissionPolicy"): (
        ("spec", *_CONDITIONS),
        _VARIABLES,
        ("spec", "validations", _EACH, "expression"),
        ("spec", "validations", _EACH, "messageExpression"),
        ("spec", "auditAnnotations", _EACH, "valueExpression"),
    ),
    (ADMISSION_REGISTRATION, "MutatingAdmissionPolicy"): (
        ("spec", *_CONDITIONS),
        _VARIABLES,
        ("spec", "mutations", _EACH, "applyConfiguration", "expression"),
        ("spec", "mutations", _EACH, "jsonPatch", "expression"),
    ),
    (ADMISSION_REGISTRATION, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (ADMISSION_REGISTRATION, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (DYNAMIC_RESOURCES, "DeviceClass"): (("spec", *_DEVICES),),
    (DYNAMIC_RESOURCES, "ResourceClaim"): tuple(("spec", *one) for one in _CLAIM),
    (DYNAMIC_RESOURCES, "ResourceClaimTemplate"): tuple(("spec", "spec", *one) for one in _CLAIM),
}

_SCHEMAS: Final[tuple[Pattern, ...]] = (
    ("spec", "versions", _EACH, "schema", "openAPIV3Schema"),
    ("spec", "validation", "openAPIV3Schema"),
)
_RULES: Final = "x-kubernetes-validations"
_RULE: Final[tuple[Pattern, ...]] = ((_RULES, _EACH, "rule"), (_RULES, _EACH, "messageExpression"))


def expression_fields(group_kind: tuple[str, str], value: object) -> Iterator[tuple[Path, str]]:
    """The paths of an object's expressions, with their texts, in no particular order."""
    if group_kind == DEFINITION_KIND:
        for pattern in _SCHEMAS:
            for path, schema in _matching(value, pattern):
                yield from _rules(schema, path)
        return
    for pattern in _FIELDS.get(group_kind, ()):
        yield from _texts(value, pattern)


def _rules(schema: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Those of a schema and of all schemas in it, wherever a map or a list leads to one."""
    pending: list[tuple[Path, object]] = [(path, schema)]
    while pending:
        at, one = pending.pop()
        if isinstance(one, dict):
            for pattern in _RULE:
                yield from ((at + below, text) for below, text in _texts(one, pattern))
            pending += [((*at, key), below) for key, below in one.items() if key != _RULES]
        elif isinstance(one, list):
            pending += [((*at, index), below) for index, below in enumerate(one)]


def _texts(value: object, pattern: Pattern) -> Iterator[tuple[Path, str]]:
    return ((path, text) for path, text in _matching(value, pattern) if isinstance(text, str))


def _matching(value: object, pattern: Sequence[str], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if not pattern:
        yield path, value
        return
    step, *below = pattern
    if step == _EACH and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _matching(item, below, (*path, index))
    elif isinstance(value, dict) and step in value:
        yield from _matching(value[step], below, (*path, step))
