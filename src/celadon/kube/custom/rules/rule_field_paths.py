"""`fieldPath` of a validation rule, and the paths of selectable fields: `.spec.size`, `['a.b'].c`.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go` (`ValidFieldPath`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import ROOT, FieldPath, MapKey, SpelledStep
from celadon.kube.schemas.schema_model import Schema
from celadon.patterns import late_pattern

_TOKEN: Final = late_pattern(r"'.*?(?<!\\)'|'.*|[.\[\]]|[^.\[\]]+", re.DOTALL)
"""A delimiter, a text in single quotes, or what stands between delimiters."""
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
_END: Final = "unexpected end of JSON path"
_NO_FIELD: Final = "does not refer to a valid field"


class FieldPathError(MalformedText):
    """A path that names no field of a schema, with upstream's reason."""


def field_path(text: str, schema: Schema) -> FieldPath | None:
    """The field it names in a schema; None if there is no such field."""
    try:
        return find_field(text, schema)[0]
    except FieldPathError:
        return None


def find_field(
    text: str, schema: Schema, *, arrays: bool = True
) -> tuple[FieldPath, Schema | None]:
    """The field that a path names, and its schema. Without `arrays` names stand behind dots only.
    `FieldPathError` says what is wrong with another path."""
    path: FieldPath = ROOT
    found: Schema | None = schema
    tokens = (token[0] for token in _TOKEN.finditer(text))
    for token in tokens:
        if token == ".":
            name = _next(tokens)
        elif token == "[":
            if not arrays:
                raise FieldPathError("array notation is not allowed")
            name = _quoted(_next(tokens))
        else:
            raise FieldPathError(f"expected [ or . but got: {token}")
        if found is None or not _has_members(found):
            raise FieldPathError(_NO_FIELD)
        path = path.join(_step(name, found, is_first=not path.steps))
        if not found.properties:
            found = found.additional_properties
        elif name in found.properties:
            found = found.properties[name]
        else:
            raise FieldPathError(_NO_FIELD)
        if token == "[" and (closing := _next(tokens)) != "]":
            raise FieldPathError(f"expected ] but got {closing}")
    return path, found


def _has_members(schema: Schema) -> bool:
    return bool(schema.properties or schema.additional_properties or schema.open_values)


def _next(tokens: Iterator[str]) -> str:
    found = next(tokens, None)
    if found is None:
        raise FieldPathError(_END)
    return found


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise FieldPathError(f"expected single quoted string but got {token}")
    inner = token[1:-1]
    for wrong in _ESCAPE.finditer(inner):
        if wrong[1] not in _ESCAPES:
            raise FieldPathError(f"invalid string literal: invalid escape char {wrong[0]}")
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], inner)


def _step(name: str, schema: Schema, *, is_first: bool) -> FieldPath:
    """A key that comes first is written behind a dot, as what follows the path of the rule's node
    is one name to upstream."""
    if schema.properties:
        return FieldPath(name)
    return FieldPath(SpelledStep(name, f".[{name}]") if is_first else MapKey(name))
