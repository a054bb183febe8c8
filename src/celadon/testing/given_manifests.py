"""Manifests as a test gives them: objects, files, folders.

Files are read like those of `celadon serve --manifests`, and errors name the line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from celadon.cli.reading import DocumentReader, Problem, expand_paths, read_text
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict

Manifest: TypeAlias = JsonObject | str | os.PathLike[str]
"""An object, or the path of a file or a folder with YAML or JSON."""


class ManifestError(ValueError):
    """A manifest that cannot be read; the text begins with the file and the line."""


def as_manifests(given: Manifest | Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Several of them, or a single one."""
    return (given,) if isinstance(given, str | os.PathLike | Mapping) else tuple(given)


def given_objects(manifests: Iterable[Manifest]) -> Iterator[tuple[str, JsonObject]]:
    """The objects, in order, each with its place. Raises ManifestError."""
    for given in manifests:
        if isinstance(given, str | os.PathLike):
            yield from _read(os.fspath(given))
        elif isinstance(given, Mapping):
            yield _place(given), given
        else:
            raise ManifestError(f"a manifest is an object or a path, not {_kind_of(given)}")


def _kind_of(given: object) -> str:
    name = type(given).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _place(given: JsonObject) -> str:
    for field in ("apiVersion", "kind"):
        if not given.get(field):
            raise ManifestError(f"an object without `{field}`: {dict(given)}")
    name = (given.get("metadata") or {}).get("name")
    return f"{given.get('kind')} `{name}`" if name else f"{given.get('kind')}"


def _read(path: str) -> Iterator[tuple[str, JsonDict]]:
    reader = DocumentReader()
    for file in expand_paths([path]):
        text = file if isinstance(file, Problem) else read_text(file)
        documents = [text] if isinstance(text, Problem) else reader.read(text)
        for found in documents:
            if isinstance(found, Problem):
                help = f" ({found.help})" if found.help else ""
                raise ManifestError(f"{found.position()}: {found.message}{help}")
            yield found.position(), found.value
