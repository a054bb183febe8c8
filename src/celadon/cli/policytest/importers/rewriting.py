"""A file of another tool on its way to a PolicyTest.

A `Rewriting` gathers the document of kind PolicyTest, and where each of its cases stood in the
original: places in reports are those of the file that the author knows. What is wrong is said
(`say`), and nothing is run; a case that has no equal is left out (`leave_out`), and the others run.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.admission import registration
from celadon.cli.celadon_documents import API_VERSION, problem_at
from celadon.cli.check.check_report import Place
from celadon.cli.policytest import case_results
from celadon.cli.policytest.file_format import KIND
from celadon.cli.policytest.file_tests import ObjectReader, read_test
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.cli.reading.locations import Chunk
from celadon.kube import Json, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass

_POLICY_KINDS: Final = frozenset({registration.POLICY_KIND, registration.MUTATING_POLICY_KIND})
_BINDING_KINDS: Final = frozenset({registration.BINDING_KIND, registration.MUTATING_BINDING_KIND})


class _Original(Chunk):
    """The text of the original, in which paths of what was made of it are found."""

    __slots__ = ("_origins",)

    def __init__(self, chunk: Chunk, origins: Mapping[Path, Path]) -> None:
        super().__init__(
            chunk.file, chunk.text, chunk.first_line, chunk.start, is_json=chunk.is_json
        )
        self._origins = origins

    def line(self, path: Path = ()) -> int:
        return super().line(self._origin(path))

    def spot(self, path: Path, value: str | None = None, offset: int = 0) -> tuple[int, int]:
        return super().spot(self._origin(path))

    def _origin(self, path: Path) -> Path:
        # The longest prefix that is known: what is below it was made, and has no place of its own
        # in the original.
        for length in range(len(path), 0, -1):
            if path[:length] in self._origins:
                return self._origins[path[:length]]
        return ()


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A test of another tool: as it is run, and the document of kind PolicyTest that says the same
    beside the original. Where the test has problems, the document may be less than it; `left_out`
    are cases that it cannot have, which the test skips."""

    test: case_results.PolicyTest
    document: JsonObject
    left_out: tuple[case_results.Case, ...] = ()


class Rewriting:
    """One file on its way. `fields` are those of the test besides its cases, `objects`
    reads the files that it names."""

    def __init__(self, chunk: Chunk, value: Any) -> None:  # noqa: ANN401 - any JSON
        self._source = Document(chunk, (), value)
        self._folder = os.path.dirname(chunk.file)
        self._cases: list[JsonObject] = []
        self._origins: dict[Path, Path] = {}
        self._left_out: list[tuple[int, case_results.Case]] = []
        """And how many cases stand before each of them."""
        self._assumed: list[case_results.Doubt] = []
        self.file = chunk.file
        self.objects = ObjectReader(self._source)
        self.fields: JsonDict = {}

    def say(self, path: Path, text: str, help: str = "") -> None:
        """Report what cannot be said in a PolicyTest, or is wrong: the test is not run."""
        self.objects.problems.append(problem_at(self._source, path, text, help))

    def leave_out(self, name: str, path: Path, reason: str) -> None:
        """Leave out a case that cannot be said in a PolicyTest: it is skipped, for a reason that
        the report names; the others are run."""
        place = Place(self.file, self._source.line(path))
        expect = case_results.Expectation(case_results.CaseVerdict.ADMIT, place)
        case = case_results.Case(name, place, expect, self._source, skip=reason)
        self._left_out.append((len(self._cases), case))

    def refuse_others(self, path: Path, names: Collection[str]) -> None:
        """Report the fields of a map that are not known."""
        value = self._source.value_at(path)
        if not isinstance(value, Mapping):
            self.say(path, "a map is expected here")
            return
        for name in value:
            if name not in names:
                self.say((*path, name), f"`{name}` has no equal in a PolicyTest")

    def others(self, path: Path, names: Collection[str]) -> str:
        """Return which field of a map is not known, as a reason to leave something out; empty if
        all are."""
        value = self._source.value_at(path)
        for name in value if isinstance(value, Mapping) else ():
            if name not in names:
                return f"`{name}` has no equal in a PolicyTest"
        return ""

    def maps(self, path: Path) -> Iterator[tuple[Path, JsonObject]]:
        """Yield the maps of a list, and their paths; what is none is said."""
        items = self._source.value_at(path)
        if items is None:
            return
        if not isinstance(items, list):
            self.say(path, "a list is expected here")
            return
        for index, item in enumerate(items):
            if isinstance(item, Mapping):
                yield (*path, index), item
            else:
                self.say((*path, index), "a map is expected here")

    def files(self, path: Path) -> list[str]:
        """Return the file names of a list; what is none is said."""
        files = self._source.value_at(path)
        if files is None:
            return []
        if isinstance(files, list) and all(isinstance(item, str) for item in files):
            return files
        self.say(path, "a list of files is expected here")
        return []

    def manifests(self, path: Path) -> list[Document]:
        """Return what is in the files of a list."""
        return self.objects.manifests(path) if self.files(path) else []

    def reference(self, document: Document, documents: Sequence[Document]) -> JsonDict:
        """Return an object of a file as a test names it; the whole object if the name is not
        enough."""
        name, kind = metadata.name(document.value), document.value["kind"]
        same = [
            item
            for item in documents
            if (item.file, item.value["kind"], metadata.name(item.value))
            == (document.file, kind, name)
        ]
        # A name that two objects of one file share, or an object with `generateName`, would be
        # ambiguous.
        if len(same) > 1 or not name:
            return dict(document.value)
        return {
            "file": os.path.relpath(document.file, self._folder or "."),
            "kind": kind,
            "name": name,
        }

    def unbound(self, policies: Sequence[Document]) -> list[Document]:
        """Return the policies that no binding names. Other tools evaluate them nevertheless:
        whoever binds them does what a cluster does not, which is remembered for the report."""
        bound = {
            policy.value_at(("spec", "policyName"))
            for policy in policies
            if policy.value["kind"] in _BINDING_KINDS
        }
        documents = [
            policy
            for policy in policies
            if policy.value["kind"] in _POLICY_KINDS and metadata.name(policy.value) not in bound
        ]
        for document in documents:
            name = metadata.name(document.value)
            text = f"policy `{name}` has no binding: the test assumes one, a cluster does nothing"
            place = Place(document.file, document.line())
            self._assumed.append(
                case_results.Doubt(case_results.Vacuity.BINDING_ASSUMED, text, place)
            )
        return documents

    def add(self, case: JsonDict, path: Path) -> None:
        """Add one more case, which stands at a path of the original."""
        self._origins[("cases", len(self._cases))] = path
        self._cases.append(case)

    def done(self, name: str) -> Rewritten:
        """Return the test. Its name is that of the original, or of its file."""
        name = name or os.path.basename(self.file)
        document = {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "metadata": {"name": name},
            **self.fields,
            "cases": _told_apart(self._cases),
        }
        problems = self.objects.problems
        left_out = tuple(case for _, case in self._left_out)
        if not self._cases:
            if not problems and not left_out:
                self.say((), "no case in this test")
            files = (self.file, *self.objects.files)
            test = case_results.PolicyTest(
                name, self.file, (), left_out, files=files, problems=tuple(problems)
            )
            return Rewritten(test, document, left_out)
        chunk = _Original(self._source.chunk, self._origins)
        test = read_test(Document(chunk, (), document))
        cases = list(test.cases)
        # From the back, so that the positions of those before stay what they were.
        for position, case in reversed(self._left_out):
            cases.insert(position, case)
        rewritten = replace(
            test,
            cases=tuple(cases),
            problems=tuple(dict.fromkeys((*problems, *test.problems))),
            files=tuple(dict.fromkeys((*test.files, *self.objects.files))),
            assumed=tuple(self._assumed),
            plugins=None,
        )
        return Rewritten(rewritten, document, left_out)


def _told_apart(cases: Sequence[JsonObject]) -> list[dict[str, Json]]:
    """Cases of the same name are numbered, from the second on."""
    counts: dict[str, int] = {}
    result = []
    for case in cases:
        name = case["name"]
        counts[name] = counts.get(name, 0) + 1
        number = f" ({counts[name]})" if counts[name] > 1 else ""
        result.append({**case, "name": f"{name}{number}"})
    return result


def after_mutation(before: JsonObject, changes: JsonObject) -> JsonDict:
    """Return what an expectation says of an object that was mutated from the one to the other: all
    that is wanted, and null for what is gone."""
    # An expectation of PolicyTest passes over fields that it does not name; null is how it says
    # that one is gone.
    expectation: dict[str, object] = dict.fromkeys(
        (key for key in before if key not in changes), None
    )
    for key, value in changes.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            expectation[key] = after_mutation(old, value)
        else:
            expectation[key] = value
    return expectation
