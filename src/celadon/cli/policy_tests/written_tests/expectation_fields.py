"""What stands under `expect`, to an `Expectation`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.cel.extend import re2
from celadon.cli.checking.check_report import Place
from celadon.cli.own_files.own_documents import problem_at
from celadon.cli.policy_tests.expectations import CaseVerdict, Expectation, How, TextMatch
from celadon.cli.policy_tests.written_tests.file_format import SNAPSHOT
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.problems import Problem

_SHORT = tuple(one for one in CaseVerdict if one.value in {"deny", "warn", "audit", "error"})
"""Verdicts that may be given with their message: `deny: no more than 5 replicas`."""


class ExpectationReader:
    """Reads expectations of one test, of which the shape is right; what is wrong beyond that goes
    to `problems`."""

    def __init__(self, test: Document, problems: list[Problem]) -> None:
        self._test = test
        self._problems = problems

    def read(self, path: Path) -> Expectation:
        """What is expected, at a path of the test."""
        given: Any = self._test.value_at(path)
        place = self._place(path)
        if given == SNAPSHOT:
            return Expectation(CaseVerdict.ADMIT, place, snapshot=True)
        if isinstance(given, str):
            return Expectation(CaseVerdict(given), place)
        verdict, at = self._verdict(given, path)
        patch = given.get("patch")
        if isinstance(patch, Mapping):
            self._complain((*path, "patch"), "a JSON patch is expected here, a list of operations")
            patch = None
        warnings = given.get("warnings")
        return Expectation(
            verdict,
            place,
            message=self._text(at) if at else None,
            reason=given.get("reason", ""),
            code=given.get("code", 0),
            policy=given.get("policy", ""),
            validation=given.get("validation"),
            violations=given.get("violations"),
            warnings=None
            if warnings is None
            else tuple(self._text((*path, "warnings", i)) for i in range(len(warnings))),
            audit_annotations={
                key: self._text((*path, "auditAnnotations", key))
                for key in given.get("auditAnnotations", {})
            },
            because=given.get("because", ""),
            object=given.get("object"),
            patch=None if patch is None else tuple(patch),
        )

    def _verdict(self, given: Mapping[str, Any], path: Path) -> tuple[CaseVerdict, Path]:
        """And where the message stands, if there is one."""
        short = [one for one in _SHORT if one.value in given]
        said = CaseVerdict(given["verdict"]) if "verdict" in given else None
        if len(short) + (said is not None) > 1:
            self._complain(path, "more than one verdict")
        if short:
            if "message" in given:
                self._complain(
                    (*path, "message"), f"the message stands at `{short[0].value}` already"
                )
            return short[0], (*path, short[0].value)
        at = (*path, "message") if "message" in given else ()
        if said is None:
            mutates = "object" in given or "patch" in given
            if not mutates:
                self._complain(path, "no `verdict`: admit, deny, warn, audit, error or noMatch")
            said = CaseVerdict.ADMIT
        return said, at

    def _text(self, path: Path) -> TextMatch:
        given: Any = self._test.value_at(path)
        place = self._place(path)
        if isinstance(given, str):
            return TextMatch(given, How.IS, place)
        if "contains" in given:
            return TextMatch(given["contains"], How.CONTAINS, place)
        pattern = given["matches"]
        try:
            re2.compile(pattern)
        except re2.RegexError as error:
            self._complain((*path, "matches"), f"not a regular expression of RE2: {error}")
        return TextMatch(pattern, How.MATCHES, place)

    def _place(self, path: Path) -> Place:
        return Place(self._test.file, self._test.line(path))

    def _complain(self, path: Path, text: str) -> None:
        self._problems.append(problem_at(self._test, path, text))
