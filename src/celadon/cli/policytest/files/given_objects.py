"""Objects as test files give them: inline, in files, or as patches on others.

`ObjectReader` belongs to one test file: paths are relative to it, names are those of its
`objects`. What cannot be read goes to its `problems`, each once. Files are read once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from celadon.cli.options import did_you_mean
from celadon.cli.own_files import problem_at
from celadon.cli.reading import sources
from celadon.cli.reading.documents import Document, DocumentReader, shape_problem
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.problems import Problem
from celadon.kube import JsonObject, metadata
from celadon.kube.registry import JsonPatchError, apply_json_patch
from celadon.kube.registry.patching import apply_merge_patch

Patch = JsonObject | Sequence[JsonObject]
"""A merge patch or a JSON patch."""


class ObjectReader:
    """Reads what one test file names. `files` are the files that were read, as they were named."""

    def __init__(self, test: Document) -> None:
        self._test = test
        self._folder = os.path.dirname(test.file)
        self._reader = DocumentReader()
        self._read: dict[str, list[Document]] = {}
        self._bases: dict[str, Document | None] = {}
        self._expanded: dict[str, tuple[Document, ...]] = {}
        self.problems: list[Problem] = []
        self.files: list[str] = []

    def manifests(self, path: Path) -> list[Document]:
        """The documents that a list at a path of the test stands for."""
        given = self._test.value_at(path) or []
        return [
            found
            for index, one in enumerate(given if isinstance(given, list) else ())
            for found in self.manifest(one, (*path, index))
        ]

    def manifest(self, given: object, path: Path) -> Sequence[Document]:
        """The documents that one item of such a list stands for."""
        if isinstance(given, str):
            if given not in self._expanded:
                self._expanded[given] = tuple(self._below(given, path))
            return self._expanded[given]
        inline = self.inline(path)
        return [] if inline is None else [inline]

    def beside(self, files: Sequence[str]) -> list[Document]:
        """The documents in files that nobody has named."""
        return [one for file in files for one in self._documents(file, ())]

    def _below(self, given: str, path: Path) -> Iterator[Document]:
        """Yield what is in a file, in the files of a folder or in those that a pattern matches."""
        for file in sources.expand([self._path(given)]):
            if isinstance(file, Problem):
                self._complain(path, file.message)
            else:
                yield from self._documents(file, path)

    def inline(self, path: Path) -> Document | None:
        """An object that stands in the test itself."""
        value: Any = self._test.value_at(path)
        return self._shaped(Document(self._test.chunk, (*self._test.path, *path), value))

    def _shaped(self, document: Document) -> Document | None:
        wrong = shape_problem(document)
        if wrong is None:
            return document
        self.problems.append(wrong)
        return None

    def object(self, path: Path) -> Document | None:
        """The object that a field of the test stands for; None for what is wrong."""
        given: Any = self._test.value_at(path)
        if isinstance(given, str):
            return self._named(given, path)
        if "apiVersion" in given:
            return self.inline(path)
        return self._derived(given, path)

    def patched(self, document: Document | None, path: Path) -> Document | None:
        """An object with the patch at a path of the test; as it is if there is none."""
        patch: Any = self._test.value_at(path)
        if document is None or patch is None:
            return document
        try:
            value = patched(document.value, patch)
        except JsonPatchError as error:
            self._complain(path, f"the patch does not apply: {error}")
            return None
        if not _is_object(value):
            self._complain(path, "the patch leaves no object with `apiVersion` and `kind`")
            return None
        return self._shaped(replace(document, value=value))

    def _named(self, name: str, path: Path) -> Document | None:
        """One of `objects`, or a file."""
        objects = self._test.value.get("objects") or {}
        if name not in objects:
            return self._only(name, path, "", "")
        if name not in self._bases:
            self._bases[name] = None  # one that is based on itself is none
            self._bases[name] = self.object(("objects", name))
            if self._bases[name] is None:
                self._complain(("objects", name), f"`{name}` is no object")
        return self._bases[name]

    def _derived(self, given: JsonObject, path: Path) -> Document | None:
        if ("base" in given) == ("file" in given):
            self._complain(path, "either `base` or `file` is needed")
            return None
        if "base" in given:
            objects = self._test.value.get("objects") or {}
            if given["base"] not in objects:
                hint = did_you_mean(given["base"], objects)
                wrong = f"no object `{given['base']}` among `objects`{hint}"
                self._complain((*path, "base"), wrong)
                return None
            found = self._named(given["base"], path)
        else:
            kind, name = given.get("kind", ""), given.get("name", "")
            found = self._only(given["file"], (*path, "file"), kind, name)
        return self.patched(found, (*path, "patch"))

    def _only(self, file: str, path: Path, kind: str, name: str) -> Document | None:
        """The one object of a file, of those of a kind and a name."""
        if not os.path.isfile(self._path(file)):
            objects = self._test.value.get("objects") or {}
            hint = did_you_mean(file, objects)
            among = " among `objects`" if objects else ""
            self._complain(path, f"no file `{file}`, and no object of this name{among}{hint}")
            return None
        documents = self._documents(self._path(file), path)
        found = [
            one
            for one in documents
            if kind in ("", one.value["kind"]) and name in ("", metadata.name(one.value))
        ]
        if len(found) == 1:
            return found[0]
        if not documents:
            return None  # what is wrong with the file has been said
        count = "several objects" if found else "no such object"
        names = ", ".join(f"{one.value['kind']} {metadata.name(one.value)}" for one in documents)
        self._complain(path, f"`{file}` has {count}: {names}", "say which: kind, name")
        return None

    def _documents(self, file: str, path: Path) -> list[Document]:
        found = self._read.get(file)
        if found is None:
            found = self._read[file] = []
            self.files.append(file)
            text = sources.read(file)
            if isinstance(text, Problem):
                self._complain(path, f"`{file}`: {text.message}")
                return found
            for one in self._reader.read(text):
                if isinstance(one, Problem):
                    self.problems.append(one)
                elif self._shaped(one) is not None:
                    found.append(one)
        return found

    def _path(self, given: str) -> str:
        return os.path.join(self._folder, given)

    def _complain(self, path: Path, text: str, help: str = "") -> None:
        self.problems.append(problem_at(self._test, path, text, help))


def patched(value: JsonObject, patch: Patch) -> Any:  # noqa: ANN401 - any JSON
    """An object with a merge patch, or a JSON patch if it is a list. Raises JsonPatchError."""
    if isinstance(patch, Mapping):
        return apply_merge_patch(value, patch)
    return apply_json_patch(value, patch)


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) and value[name] for name in ("apiVersion", "kind")
    )
