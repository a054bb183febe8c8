"""Documents of kinds that are Celadon's own: what is wrong with one, and where it stands. And
answers that are kept in files."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path as File
from typing import Any, Final, NamedTuple

from celadon import __version__, private_files
from celadon.cli.options import did_you_mean
from celadon.cli.reading.documents import Document, Problem
from celadon.cli.reading.json_text import Path
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.late_patterns import late_pattern

# --- Names of files ----------------------------------------------------------
#
# Files that are named after what stands in documents, which may be anything.

_IN_NO_NAME: Final = late_pattern(r"[^A-Za-z0-9._-]")
_LONGEST: Final = 200
"""Characters of a name before its number and ending; file systems take 255."""


class FileNames:
    """Names the manifests of one folder. None leads to another folder, and none is given twice,
    also where a file system does not tell capital letters from small ones."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._taken: set[str] = set()

    def name(self, *names: str) -> str:
        """Return the name of a new file for what has these names."""
        stem = _IN_NO_NAME.sub("_", "-".join(filter(None, names)))[:_LONGEST]
        number = self._counts.get(stem.lower(), 0) + 1
        while (file := f"{stem}{f'-{number}' * (number > 1)}.yaml").lower() in self._taken:
            number += 1
        self._counts[stem.lower()] = number
        self._taken.add(file.lower())
        return file


# --- Own documents -----------------------------------------------------------

API_VERSION: Final = "celadon.dev/v1"
PROPERTIES_KIND: Final = "PolicyProperties"
"""Of what is claimed of policies; `celadon.cli.property_proofs` reads it."""


def is_own(document: Document, kind: str) -> bool:
    """Return whether it is of a kind of ours, of whatever version."""
    group = API_VERSION.partition("/")[0]
    return bool(document.value["kind"] == kind and document.group_kind[0] == group)


def problem_at(document: Document, path: Path, text: str, help: str = "") -> Problem:
    """Return what is wrong with a field of a document."""
    line, column = document.chunk.spot((*document.path, *path))
    return Problem(document.file, line, text, help, column=column)


# --- Shape faults ------------------------------------------------------------
#
# What is not as a JSON schema wants it, in words for the author of a file.
#
# The schemas are our own, so only what they use is known: types, members, items, enumerations,
# patterns, alternatives. Of alternatives, the one that comes nearest says what is wrong.

_KINDS: Final[Mapping[str, tuple[type, str]]] = {
    "string": (str, "text"),
    "object": (dict, "a map"),
    "array": (list, "a list"),
    "integer": (int, "a whole number"),
    "boolean": (bool, "true or false"),
}


class Fault(NamedTuple):
    """Tells of one thing that is wrong, and where."""

    path: Path
    text: str
    help: str = ""


def faults(value: object, schema: JsonObject) -> list[Fault]:
    """Return all that is wrong with a value, in its order."""
    return list(_faults(value, schema, (), schema.get("$defs", {})))


def _faults(
    value: Any,  # noqa: ANN401 - any JSON
    schema: JsonObject,
    path: Path,
    definitions: JsonObject,
) -> Iterator[Fault]:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        yield from _of_alternatives(value, schema["anyOf"], path, definitions)
        return
    if "const" in schema and value != schema["const"]:
        yield Fault(path, f"{_name(path)} must be `{schema['const']}`")
        return
    kind = schema.get("type")
    if kind is not None and not _is_kind(value, kind):
        yield Fault(
            path,
            f"{_name(path)} must be {_KINDS[kind][1]}, not {_found(value)}",
            _quotes(value, kind),
        )
        return
    if "enum" in schema and value not in schema["enum"]:
        yield _none_of(value, schema["enum"], path)
        return
    if isinstance(value, str):
        yield from _of_text(value, schema, path)
    elif isinstance(value, dict):
        yield from _of_map(value, schema, path, definitions)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield Fault(path, f"{_name(path)} must not be empty")
        for index, item in enumerate(value):
            yield from _faults(item, schema.get("items", {}), (*path, index), definitions)


def _of_alternatives(
    value: object, alternatives: Sequence[JsonObject], path: Path, definitions: JsonObject
) -> Iterator[Fault]:
    result = [list(_faults(value, alternative, path, definitions)) for alternative in alternatives]
    if not all(result):
        return
    fitting = [
        wrong
        for wrong, alternative in zip(result, alternatives, strict=True)
        if _is_kind(value, alternative.get("type"))
    ]
    if fitting:
        yield from min(fitting, key=lambda wrong: (len(wrong), _distance(wrong, path)))
        return
    kinds = dict.fromkeys(_KINDS[alternative["type"]][1] for alternative in alternatives)
    kind = alternatives[0]["type"]
    text = f"{_name(path)} must be {' or '.join(kinds)}, not {_found(value)}"
    yield Fault(path, text, _quotes(value, kind))


def _distance(wrong: Sequence[Fault], path: Path) -> tuple[bool, bool]:
    """Least for an alternative that was meant: all that is wrong with it is further inside, or a
    field is nearly one of its own."""
    outside = any(len(item.path) <= len(path) for item in wrong)
    return not any("did you mean" in item.text for item in wrong), outside


def _of_text(value: str, schema: JsonObject, path: Path) -> Iterator[Fault]:
    if len(value) < schema.get("minLength", 0):
        yield Fault(path, f"{_name(path)} must not be empty")
    pattern = schema.get("pattern")
    if pattern is not None and re.search(pattern, value) is None:
        yield Fault(path, f"{_name(path)} must match `{pattern}`, not be `{value}`")


def _of_map(
    value: JsonDict, schema: JsonObject, path: Path, definitions: JsonObject
) -> Iterator[Fault]:
    properties = schema.get("properties", {})
    more = schema.get("additionalProperties", {})
    for name, member in value.items():
        if name in properties:
            yield from _faults(member, properties[name], (*path, name), definitions)
        elif more is False:
            hint = did_you_mean(name, [field for field in properties if field not in value])
            subject = f"`{name}` is no field of {_name(path)}" if path else f"no field `{name}`"
            yield Fault((*path, name), f"{subject}{hint}")
        else:
            yield from _faults(member, more, (*path, name), definitions)
    for name in schema.get("required", ()):
        if name not in value:
            yield Fault(path, f"{_name(path)} has no `{name}`" if path else f"`{name}` not set")


def _none_of(value: object, allowed: Sequence[str], path: Path) -> Fault:
    hint = did_you_mean(str(value), allowed)
    return Fault(path, f"{_name(path)} must be one of {', '.join(allowed)}{hint}")


def _is_kind(value: object, kind: str | None) -> bool:
    if kind is None:
        return True
    if kind == "integer" and isinstance(value, bool):
        return False
    return isinstance(value, _KINDS[kind][0])


def _name(path: Path) -> str:
    """Return the name of a place: `cases[2].expect`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"`{text.removeprefix('.')}`"


def _found(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"the number {value}"
    return next(name for kind, name in _KINDS.values() if isinstance(value, kind))


def _quotes(value: object, kind: str) -> str:
    if kind == "string" and isinstance(value, bool | int | float):
        return "YAML reads it as a number, or as true or false: put it in quotes"
    return ""


# --- Answers that are kept ---------------------------------------------------
#
# Answers that are kept in a folder, so that what did not change is not asked again.
#
# A file holds one answer, and is called by a hash of all that it depends on: what is asked, the
# solver, and all of Celadon. It is data and nothing else; what is no such data counts as absent.


class AnswerCache:
    """A folder of answers; without one nothing is kept. `problem` says why something could not be
    written: then no more is."""

    __slots__ = ("_folder", "problem")

    def __init__(self, folder: str) -> None:
        """Make the folder if it is not there. Raises OSError."""
        self._folder = File(folder) if folder else None
        self.problem = ""
        if self._folder is not None:
            private_files.make_folder(self._folder)
            if not self._folder.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder)

    def key(self, *parts: Json) -> str:
        """Return the name of what depends on these."""
        if self._folder is None:
            return ""
        import z3

        text = json.dumps([_code(), z3.get_full_version(), *parts], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def get(self, key: str) -> Json:
        """Return what is kept under a name; None if there is nothing that can be read."""
        if self._folder is None:
            return None
        try:
            value: Json = json.loads((self._folder / f"{key}.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return value

    def put(self, key: str, value: Json) -> None:
        """Keep an answer under a name."""
        if self._folder is None or self.problem:
            return
        text = json.dumps(value, ensure_ascii=False)
        try:
            private_files.write(self._folder / f"{key}.json", text.encode())
        except OSError as error:
            self.problem = f"answers are not kept: {error.filename}: {error.strerror}"


@cache
def _code() -> str:
    """Return a hash of all files that Celadon is made of: a clone of its repository changes while
    its version stays."""
    root = File(private_files.__file__).parent
    files = (file for file in root.rglob("*") if "__pycache__" not in file.parts)
    digest = hashlib.sha256(__version__.encode())
    for file in sorted(file for file in files if file.is_file()):
        content = file.read_bytes()
        digest.update(f"\0{file.relative_to(root)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
