"""The formats of other tools' tests, and the tool that a test is of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from celadon.cli.policytest.case_results import PolicyTest
from celadon.cli.policytest.file_format import KIND
from celadon.cli.policytest.file_tests import is_policy_test, read_test
from celadon.cli.policytest.importers import gator_suites, kyverno_tests, small_formats
from celadon.cli.policytest.importers.rewriting import Rewriting, Rewritten
from celadon.cli.reading import documents
from celadon.cli.reading.locations import Chunk
from celadon.kube.json_types import Misfit, Shape, misfit
from celadon.records import dataclass, field


class _Format(NamedTuple):
    """One tool's format: how its tests are known, what must be right about one before it is read
    (beside what is said of its parts when they are), and what makes one or several PolicyTests of
    it."""

    recognizes: Callable[[object], bool]
    shape: Shape
    rewrites: Callable[[Chunk, Any], Rewritten | list[Rewritten]]


_FORMATS: Final = (
    _Format(small_formats.is_chainsaw_test, {}, small_formats.rewritten_chainsaw),
    _Format(kyverno_tests.is_kyverno_test, kyverno_tests.SHAPE, kyverno_tests.rewritten),
    _Format(small_formats.is_kaptest, {}, small_formats.rewritten_kaptest),
    _Format(
        small_formats.is_kubescape_test, small_formats.SHAPE, small_formats.rewritten_kubescape
    ),
    _Format(
        small_formats.is_cel_go_test, small_formats.CEL_GO_SHAPE, small_formats.rewritten_cel_go
    ),
    _Format(gator_suites.is_gator_suite, {}, gator_suites.rewritten),
)
_NAMES: Final = frozenset(
    f"{name}.{ending}"
    for name in ("kyverno-test", "chainsaw-test", "kaptest", "suite", "tests")
    for ending in ("yaml", "yml", "json")
)


def has_foreign_name(file: str) -> bool:
    """Return whether a file of a folder is called as tests of other tools are."""
    return os.path.basename(file) in _NAMES


def foreign_tests(text: documents.Text, expect: str = "") -> list[Rewritten]:
    """Return the tests of other tools in a text, known by their shape. What cannot be read is left
    to whoever reads the text as documents. `expect` is the verdict on AdmissionReviews that have no
    response."""
    result = []
    for value in documents.DocumentReader().values(text):
        if isinstance(value, documents.Problem):
            continue
        if small_formats.is_review(value[1]):
            wrong = misfit(value[1], small_formats.REVIEW_SHAPE)
            result.append(
                small_formats.rewritten_review(*value, expect)
                if wrong is None
                else _misshapen(*value, wrong)
            )
        for form in _FORMATS:
            if form.recognizes(value[1]):
                wrong = misfit(value[1], form.shape)
                rewrites = form.rewrites(*value) if wrong is None else _misshapen(*value, wrong)
                result += rewrites if isinstance(rewrites, list) else [rewrites]
    return result


def _misshapen(chunk: Chunk, value: object, wrong: Misfit) -> Rewritten:
    """Return a test that is not run, and why."""
    way = Rewriting(chunk, value)
    way.say(wrong.path, str(wrong))
    return way.done("")


# --- Tests, found ------------------------------------------------------------
#
# From what the user typed to tests.
#
# Of a folder, the files that are called tests, and those in which a PolicyTest stands, whatever
# they are called: a test that nobody runs is worse than none. Of hidden folders below it, such as
# `.kyverno-test/`, those that are called tests.

_NAMED_SO: Final = (
    "no test in this file: a document `kind: PolicyTest` is expected, or a test of another tool"
)


@dataclass(slots=True)
class GivenTests:
    """The tests, in the order of the files, and what could not be read."""

    tests: list[PolicyTest] = field(default_factory=list)
    problems: list[documents.Problem] = field(default_factory=list)


def given_tests(arguments: Sequence[str], expect: str = "") -> GivenTests:
    """Return the tests in files and folders; `expect` is the verdict on AdmissionReviews that have
    no response."""
    tests = GivenTests()
    for path in _paths(arguments):
        text = path if isinstance(path, documents.Problem) else documents.read_text(path)
        if isinstance(text, documents.Problem):
            tests.problems.append(text)
        elif text.file in arguments or _is_called_test(text.file) or KIND in text.content:
            before = len(tests.tests) + len(tests.problems)
            _take(text, tests, expect)
            if len(tests.tests) + len(tests.problems) == before and text.file in arguments:
                tests.problems.append(documents.Problem(text.file, 0, _NAMED_SO))
    return tests


def _paths(arguments: Sequence[str]) -> Iterator[str | documents.Problem]:
    """Yield the files to look at; those of hidden folders only if their names say what they are."""
    for path in documents.expand_paths(arguments, tests=True):
        if (
            isinstance(path, documents.Problem)
            or path in arguments
            or _is_called_test(path)
            or not documents.is_hidden(path, arguments)
        ):
            yield path


def _is_called_test(file: str) -> bool:
    return documents.is_test_file(file) or has_foreign_name(file)


def _take(text: documents.Text, tests: GivenTests, expect: str) -> None:
    if KIND not in text.content and (foreign := foreign_tests(text, expect)):
        tests.tests += [rewritten.test for rewritten in foreign]
        return
    certain = documents.is_test_file(text.file)
    for item in documents.DocumentReader().read(text):
        if isinstance(item, documents.Problem):
            tests.problems += [item] if certain else []
        elif is_policy_test(item):
            tests.tests.append(read_test(item))
