"""Files of kind PolicyProperties: what is claimed of policies, in CEL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.cli.check.check_report import Place
from celadon.cli.own_files import API_VERSION, faults, is_own, problem_at
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Problem,
    expand_paths,
    read_text,
    shape_problem,
)
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict
from celadon.prove import Property, Subject
from celadon.records import dataclass

KIND: Final = "PolicyProperties"

_TEXT: Final = {"description": "A name, or CEL.", "type": "string", "minLength": 1}
_TEXTS: Final = {"type": "array", "items": _TEXT, "minItems": 1}
_MATCH: Final = {
    "description": "The requests that it is about.",
    "type": "object",
    "properties": {
        "resources": {**_TEXTS, "description": "As `pods` or `deployments.apps`."},
        "operations": {
            "type": "array",
            "items": {"enum": ["CREATE", "UPDATE", "DELETE"]},
            "minItems": 1,
        },
    },
    "required": ["resources"],
    "additionalProperties": False,
}
_VARIABLE: Final = {
    "type": "object",
    "properties": {"name": _TEXT, "expression": _TEXT},
    "required": ["name", "expression"],
    "additionalProperties": False,
}
_PROPERTY: Final = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "match": _MATCH,
        "of": {
            "description": "Whether it is about what is admitted (the default) or refused.",
            "enum": [one.value for one in Subject],
        },
        "assume": {"description": "Requests that it is not about are left out.",
                   "anyOf": [_TEXT, _TEXTS]},
        "that": {**_TEXT, "description": "What is true of all of them."},
        "params": {
            "description": "Params: those in files (the default), or any of their kind.",
            "enum": ["given", "any"],
        },
    },
    "required": ["name", "that"],
    "additionalProperties": False,
}  # fmt: skip

SCHEMA: Final[JsonDict] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": KIND,
    "description": "Properties of admission policies, proved by `celadon prove --property`.",
    "type": "object",
    "properties": {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": KIND},
        "metadata": {
            "type": "object",
            "properties": {"name": _TEXT},
            "additionalProperties": False,
        },
        "match": _MATCH,
        "variables": {
            "description": "What expressions may name as `variables.NAME`.",
            "type": "array",
            "items": _VARIABLE,
        },
        "properties": {"type": "array", "items": _PROPERTY, "minItems": 1},
    },
    "required": ["apiVersion", "kind", "properties"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class GivenProperty:
    """A property, and where it stands."""

    property: Property
    place: Place


def read_properties(paths: list[str], version: str) -> tuple[list[GivenProperty], list[Problem]]:
    """The properties in files, and what is wrong with the files."""
    found: list[GivenProperty] = []
    problems: list[Problem] = []
    reader = DocumentReader()
    for file in expand_paths(paths):
        text = file if isinstance(file, Problem) else read_text(file)
        if isinstance(text, Problem):
            problems.append(text)
            continue
        items = list(reader.read(text))
        if not items:
            problems.append(Problem(text.file, 0, f"no {KIND} in this file"))
        for item in items:
            problem = item if isinstance(item, Problem) else shape_problem(item)
            if problem is not None:
                problems.append(problem)
            elif isinstance(item, Document):
                wrong = list(_wrong(item))
                problems += wrong
                if not wrong:
                    given = list(_properties(item))
                    problems += _complaints(item, given, version)
                    found += given
    return found, problems


def _wrong(document: Document) -> Iterator[Problem]:
    if not is_own(document, KIND):
        yield Problem(document.file, document.line(), f"no {KIND}: {document.value['kind']}")
        return
    wrong = [problem_at(document, *one) for one in faults(document.value, SCHEMA)]
    yield from wrong
    if wrong:
        return
    for number, one in enumerate(document.value["properties"]):
        if "match" not in one and "match" not in document.value:
            yield problem_at(
                document, ("properties", number), "neither it nor the file has a `match`"
            )


def _properties(document: Document) -> Iterator[GivenProperty]:
    value = document.value
    variables = tuple((one["name"], one["expression"]) for one in value.get("variables", ()))
    for number, one in enumerate(value["properties"]):
        assume = one.get("assume", ())
        made = Property(
            one["name"],
            one["that"],
            _rules(one.get("match") or value["match"]),
            Subject(one.get("of", Subject.ADMITTED.value)),
            (assume,) if isinstance(assume, str) else tuple(assume),
            variables,
            any_params=one.get("params") == "any",
        )
        line, _ = document.chunk.spot((*document.path, "properties", number, "that"))
        yield GivenProperty(made, Place(document.file, line))


def _rules(match: JsonObject) -> tuple[JsonObject, ...]:
    operations = match.get("operations", ["CREATE", "UPDATE"])
    named = (str(one).partition(".") for one in match["resources"])
    return tuple(
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": operations,
            "resources": [resource],
        }
        for resource, _, group in named
    )


def _complaints(document: Document, given: list[GivenProperty], version: str) -> Iterator[Problem]:
    for number, one in enumerate(given):
        for path, text in one.property.complaints(version):
            at = path if path[0] == "variables" else ("properties", number, *path)
            if path[0] == "assume" and isinstance(document.value_at(at[:-1]), str):
                at = at[:-1]
            if number == 0 or path[0] != "variables":
                yield problem_at(document, at, text)
