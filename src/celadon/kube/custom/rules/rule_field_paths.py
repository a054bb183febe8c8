"""`fieldPath` of a validation rule: `.spec.size`, `['a.b'].c`.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go` (`ValidFieldPath`).
"""

from __future__ import annotations

import re
from typing import Final

from celadon.kube.fieldpath import ROOT, FieldPath, MapKey, SpelledStep
from celadon.kube.schemas.schema_model import Schema
from celadon.patterns import late_pattern

_STEP: Final = late_pattern(r"\.([^.\[\]']+)|\['((?:[^'\\]|\\.)*)'\]", re.DOTALL)
_ESCAPE: Final = late_pattern(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "'": "'",
    "\\": "\\",
}


def field_path(text: str, schema: Schema) -> FieldPath | None:
    """The field it names in a schema; None if there is no such field."""
    path: FieldPath = ROOT
    position = 0
    while position < len(text):
        step = _STEP.match(text, position)
        name = None if step is None else step[1] if step[1] is not None else _unescaped(step[2])
        if step is None or name is None:
            return None
        below = _below(schema, name)
        if below is None:
            return None
        path = path.join(_step(name, schema, is_first=not path.steps))
        schema, position = below, step.end()
    return path


def _step(name: str, schema: Schema, *, is_first: bool) -> FieldPath:
    """A key that comes first is written behind a dot, as what follows the path of the rule's node
    is one name to upstream."""
    if schema.properties:
        return FieldPath(name)
    return FieldPath(SpelledStep(name, f".[{name}]") if is_first else MapKey(name))


def _below(schema: Schema, name: str) -> Schema | None:
    return schema.properties.get(name) if schema.properties else schema.additional_properties


def _unescaped(text: str) -> str | None:
    if any(found[1] not in _ESCAPES for found in _ESCAPE.finditer(text)):
        return None
    return _ESCAPE.sub(lambda found: _ESCAPES[found[1]], text)
