"""From what the user typed to tests.

Of a folder, the files that are called tests, and those in which a PolicyTest stands, whatever they
are called: a test that nobody runs is worse than none. Of hidden folders below it, such as
`.kyverno-test/`, those that are called tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Final

from celadon.cli.policytest.files.file_format import KIND
from celadon.cli.policytest.files.file_tests import is_policy_test, read_test
from celadon.cli.policytest.importers.foreign_formats import foreign_tests, has_foreign_name
from celadon.cli.policytest.run.case_results import PolicyTest
from celadon.cli.reading import sources
from celadon.cli.reading.documents import DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text
from celadon.records import dataclass

_NAMED_SO: Final = (
    "no test in this file: a document `kind: PolicyTest` is expected, or a test of another tool"
)


@dataclass(slots=True)
class GivenTests:
    """The tests, in the order of the files, and what could not be read."""

    tests: list[PolicyTest] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def given_tests(arguments: Sequence[str], expected: str = "") -> GivenTests:
    """The tests in files and folders; `expected` is the verdict on AdmissionReviews that have no
    response."""
    found = GivenTests()
    for path in _paths(arguments):
        text = path if isinstance(path, Problem) else sources.read(path)
        if isinstance(text, Problem):
            found.problems.append(text)
        elif text.file in arguments or _is_called_test(text.file) or KIND in text.content:
            before = len(found.tests) + len(found.problems)
            _take(text, found, expected)
            if len(found.tests) + len(found.problems) == before and text.file in arguments:
                found.problems.append(Problem(text.file, 0, _NAMED_SO))
    return found


def _paths(arguments: Sequence[str]) -> Iterator[str | Problem]:
    """The files to look at; those of hidden folders only if their names say what they are."""
    for path in sources.expand(arguments, tests=True):
        if (
            isinstance(path, Problem)
            or path in arguments
            or _is_called_test(path)
            or not sources.is_hidden(path, arguments)
        ):
            yield path


def _is_called_test(file: str) -> bool:
    return sources.is_test_file(file) or has_foreign_name(file)


def _take(text: Text, found: GivenTests, expected: str) -> None:
    if KIND not in text.content and (foreign := foreign_tests(text, expected)):
        found.tests += [one.test for one in foreign]
        return
    certain = sources.is_test_file(text.file)
    for one in DocumentReader().read(text):
        if isinstance(one, Problem):
            found.problems += [one] if certain else []
        elif is_policy_test(one):
            found.tests.append(read_test(one))
