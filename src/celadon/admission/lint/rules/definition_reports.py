"""What the API server has against CustomResourceDefinitions and their rules.

A definition is looked at as it is when it is created: names and the conversion defaulted, without a
status of its own. Mistakes in rules (`x-kubernetes-validations`) are shown where they are in the
rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.admission.lint.model.findings import Spot
from celadon.admission.lint.model.rule_reports import Report
from celadon.admission.registration.decoding import RegistrationError
from celadon.kube import FieldError, FieldPath, metadata
from celadon.kube.custom import definition_errors
from celadon.kube.schemas import DecodeError, round_trip
from celadon.patterns import late_pattern

_HOISTED: Final = ("spec", "validation", "openAPIV3Schema")
"""Where the API server sees the schema that all versions share."""
_MISTAKE: Final = late_pattern(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)", re.ASCII)


def definition_reports(
    document: int, definition: Mapping[str, Any], version: str
) -> Iterator[Report]:
    """Of one definition, of which the parts that name its kinds have their shapes."""
    gvk = metadata.gvk(definition)
    try:
        round_trip(definition, gvk)
    except DecodeError as undecoded:
        failure = RegistrationError(gvk.kind, gvk.version, undecoded)
        yield Report(Spot(document, failure.path), str(failure))
        return
    for error in definition_errors(_created(definition), version):
        path = _written(definition, error.path)
        found = list(_mistakes(document, definition, path, error))
        yield from found or [Report(Spot(document, path), f"{error.field}: {error.body}")]


def _created(given: Mapping[str, Any]) -> dict[str, Any]:
    spec = given["spec"]
    kind = spec["names"]["kind"]
    names = {"singular": kind.lower(), "listKind": f"{kind}List", **spec["names"]}
    stored = [one["name"] for one in spec["versions"] if one.get("storage")]
    return {
        **given,
        "spec": {"conversion": {"strategy": "None"}, **spec, "names": names},
        "status": {"storedVersions": stored},
    }


def _written(definition: Mapping[str, Any], path: FieldPath) -> FieldPath:
    """The path in the document."""
    if path.steps[:3] != _HOISTED:
        return path
    for number, one in enumerate(definition["spec"]["versions"]):
        if "schema" in one:
            below = ("spec", "versions", number, "schema", "openAPIV3Schema")
            return FieldPath(*below, *path.steps[3:])
    return path


def _mistakes(
    document: int, definition: Mapping[str, Any], path: FieldPath, error: FieldError
) -> Iterator[Report]:
    """Those in the expression of a rule; none where the rule is something else than wrong."""
    text: Any = definition
    for step in path.steps:
        if isinstance(text, dict):
            text = text.get(step)
        elif isinstance(text, list) and isinstance(step, int) and step < len(text):
            text = text[step]
    if not isinstance(text, str):
        return
    lines = text.split("\n")
    for found in _MISTAKE.finditer(error.detail):
        line, column = int(found[1]), int(found[2])
        offset = sum(len(one) + 1 for one in lines[: line - 1]) + column - 1
        yield Report(Spot(document, path, offset), found[3])
