"""What `celadon migrate` does with the files it is given: policies in, policies and a report
out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from celadon.cel.formatter import laid_out
from celadon.cli.fmt import expression_fields, text_layout
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Problem,
    Text,
    expand_paths,
    read_text,
    shape_problem,
)
from celadon.kube import JsonObject
from celadon.kube.json_types import misfit
from celadon.kube.resources import Catalog, known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, DEFINITION_KIND
from celadon.migrate import (
    SUITE_SHAPE,
    USER_SHAPE,
    VALUES_SHAPE,
    Case,
    Translation,
    judged_by,
    read_suite,
    shape_of,
    translate_document,
)

_LINE_WIDTH: Final = 100
_SUITE_NAMES: Final = ("kyverno-test.yaml", "kyverno-test.yml")
_NOTHING: Final[JsonObject] = {}


@dataclass(frozen=True, slots=True)
class Difference:
    """A case of a test that the translation decides otherwise."""

    case: Case
    found: str
    message: str


@dataclass
class RuleOutcome:
    """What became of one rule, and of the cases that its tests have."""

    document: Document
    translation: Translation
    cases: int = 0
    """How many its tests have, also where there is nothing to judge them by."""
    differences: list[Difference] = field(default_factory=list)

    @property
    def position(self) -> str:
        """The file and line of the rule."""
        return f"{self.document.file}:{self.document.line(self.translation.origin.path)}"

    @property
    def state(self) -> str:
        """`translated`, `differs` or `not translated`."""
        if self.translation.reason:
            return "not translated"
        return "differs" if self.differences else "translated"

    def to_json(self) -> JsonObject:
        """The outcome as a report has it."""
        made: dict[str, Any] = {
            "position": self.position,
            "policy": self.translation.origin.policy,
            "rule": self.translation.origin.rule,
            "does": self.translation.origin.does,
            "state": self.state,
            "policies": [one["metadata"]["name"] for one in self.translation.policies],
            "cases": self.cases,
        }
        if self.translation.reason:
            made |= {"reason": self.translation.reason, "instead": self.translation.instead}
        if self.differences:
            made["differences"] = [
                {
                    "object": _name_of(one.case.object),
                    "expected": one.case.expected,
                    "found": one.found,
                    "message": one.message,
                }
                for one in self.differences
            ]
        return made


def _name_of(obj: JsonObject) -> str:
    metadata = obj.get("metadata") or {}
    return f"{obj.get('kind')} {metadata.get('name')}"


@dataclass
class Migration:
    """The policies of files, translated, and their tests, run."""

    outcomes: list[RuleOutcome] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def of(cls, paths: Sequence[str]) -> Migration:
        """Read, translate, run the tests."""
        migration = cls()
        policies: list[Document] = []
        definitions: list[JsonObject] = []
        for document in migration._documents(paths):
            if document.group_kind == DEFINITION_KIND and shape_problem(document) is None:
                definitions.append(document.value)
            elif shape_of(document.value) is not None:
                policies.append(document)
        catalog = known_resources().with_crds(definitions)
        for document in policies:
            migration._translate(document, catalog)
        for file in _suites(paths):
            migration._run(file, catalog)
        return migration

    def _documents(self, paths: Sequence[str]) -> Iterator[Document]:
        for file in expand_paths(paths):
            yield from self._read(file)

    def _read(self, file: str | Problem) -> Iterator[Document]:
        """Return the objects in a file; what is no object of Kubernetes is passed over."""
        text = file if isinstance(file, Problem) else read_text(file)
        if isinstance(text, Problem):
            self.problems.append(text)
            return
        for item in DocumentReader().values(text):
            if isinstance(item, Problem):
                self.problems.append(item)
            elif _is_object(item[1]):
                yield Document(item[0], (), item[1])

    def _translate(self, document: Document, catalog: Catalog) -> None:
        wrong = misfit(document.value, shape_of(document.value))
        if wrong is not None:
            self.problems.append(Problem(document.file, document.line(wrong.path), str(wrong)))
            return
        for translation in translate_document(document.value, catalog):
            self.outcomes.append(RuleOutcome(document, translation))

    # Tests.

    def _run(self, file: str, catalog: Catalog) -> None:
        suite = self._one(file, SUITE_SHAPE)
        if suite is None:
            return
        folder = os.path.dirname(file)
        resources = [
            document.value
            for name in suite.get("resources") or ()
            for document in self._read(os.path.join(folder, name))
        ]
        values = suite.get("values") or _NOTHING
        if suite.get("variables"):
            values = self._one(os.path.join(folder, suite["variables"]), VALUES_SHAPE) or _NOTHING
        user: JsonObject = _NOTHING
        if suite.get("userinfo"):
            user = self._one(os.path.join(folder, suite["userinfo"]), USER_SHAPE) or _NOTHING
        named = {
            os.path.normpath(os.path.join(folder, name)) for name in suite.get("policies") or ()
        }
        outcomes = {
            (one.translation.origin.policy, one.translation.origin.rule): one
            for one in self.outcomes
            if os.path.normpath(one.document.file) in named
        }
        for case in read_suite(suite, resources, values, user):
            outcome = outcomes.get((case.policy, case.rule))
            if outcome is not None:
                outcome.cases += 1
                if not outcome.translation.reason:
                    self._judge(case, outcome, catalog)

    def _judge(self, case: Case, outcome: RuleOutcome, catalog: Catalog) -> None:
        found, message = judged_by(case, outcome.translation.policies, catalog)
        if found != case.expected:
            outcome.differences.append(Difference(case, found, message))

    def _one(self, file: str, shape: Any) -> JsonObject | None:  # noqa: ANN401 - a shape
        """Return the one document of a file, if it has the shape."""
        text = read_text(file)
        if isinstance(text, Problem):
            self.problems.append(text)
            return None
        for item in DocumentReader().values(text):
            if isinstance(item, Problem):
                self.problems.append(item)
                return None
            value = item[1]
            wrong = misfit(value, shape) if isinstance(value, Mapping) else None
            if wrong is None and isinstance(value, Mapping):
                return value
            reason = str(wrong) if wrong else "a map is expected here"
            self.problems.append(Problem(file, 1, reason))
        return None

    # Results.

    def files(self) -> Iterator[tuple[str, str]]:
        """The files to write: a name and a content for each policy that has a rule translated."""
        by_policy: dict[int, list[RuleOutcome]] = {}
        for outcome in self.outcomes:
            by_policy.setdefault(id(outcome.document), []).append(outcome)
        names: dict[str, int] = {}
        for outcomes in by_policy.values():
            documents = [one for outcome in outcomes for one in outcome.translation.documents]
            if documents:
                name = outcomes[0].translation.origin.policy
                count = names[name] = names.get(name, 0) + 1
                file = f"{name}.yaml" if count == 1 else f"{name}-{count}.yaml"
                yield file, _laid_out(file, documents)

    @property
    def judged(self) -> int:
        """Return how many cases there are of rules that were translated."""
        return sum(one.cases for one in self.outcomes if not one.translation.reason)

    def count(self, state: str) -> int:
        """Return how many rules are in a state."""
        return sum(one.state == state for one in self.outcomes)


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(value.get(name), str) for name in ("apiVersion", "kind")
    )


def _laid_out(file: str, documents: Sequence[JsonObject]) -> str:
    """The documents as a file, expressions laid out as `celadon fmt` has them."""
    written = Text(file, "---\n".join(_written(one) for one in documents))
    return text_layout(written, _LINE_WIDTH).content()


def _written(document: JsonObject) -> str:
    group_kind = (ADMISSION_REGISTRATION, document["kind"])
    made = json.loads(json.dumps(document))  # a copy in which nothing is there twice
    for path, expression in expression_fields(group_kind, document):
        place: Any = made
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = laid_out(expression, _LINE_WIDTH - _INDENT) or expression
    text: str = yaml.dump(
        made, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_LINE_WIDTH
    )
    return text


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Dumper.add_representer(str, _block)


_INDENT: Final = 6
"""Columns that the layout leaves to the YAML around an expression."""


def _suites(paths: Sequence[str]) -> Iterator[str]:
    """The tests of Kyverno in folders, also in hidden ones."""
    for path in paths:
        if os.path.basename(path) in _SUITE_NAMES and os.path.isfile(path):
            yield path
        for parent, folders, files in os.walk(path):
            folders.sort()
            yield from (os.path.join(parent, one) for one in sorted(files) if one in _SUITE_NAMES)
