"""Which tool a test is of."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from celadon.cli.policytest.importers import (
    gator_suites,
    kubescape_tests,
    kyverno_tests,
    small_formats,
)
from celadon.cli.policytest.importers import kubescape_tests as review_tests
from celadon.cli.policytest.importers.rewriting import Rewritten
from celadon.cli.reading.documents import DocumentReader
from celadon.cli.reading.locations import Chunk
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import Text

_Recognizes = Callable[[object], bool]
_Rewrites = Callable[[Chunk, Any], Rewritten | list[Rewritten]]

_FORMATS: Final[tuple[tuple[_Recognizes, _Rewrites], ...]] = (
    (small_formats.is_chainsaw_test, small_formats.rewritten_chainsaw),
    (kyverno_tests.is_kyverno_test, kyverno_tests.rewritten),
    (small_formats.is_kaptest, small_formats.rewritten_kaptest),
    (kubescape_tests.is_kubescape_test, kubescape_tests.rewritten_kubescape),
    (small_formats.is_cel_go_test, small_formats.rewritten_cel_go),
    (gator_suites.is_gator_suite, gator_suites.rewritten),
)
"""How a test of each tool is known, and what makes one or several PolicyTests of it."""
_NAMES: Final = frozenset(
    f"{name}.{ending}"
    for name in ("kyverno-test", "chainsaw-test", "kaptest", "suite", "tests")
    for ending in ("yaml", "yml", "json")
)


def has_foreign_name(file: str) -> bool:
    """Return whether a file of a folder is called as tests of other tools are."""
    return os.path.basename(file) in _NAMES


def foreign_tests(text: Text, expected: str = "") -> list[Rewritten]:
    """The tests of other tools in a text, known by their shape. What cannot be read is left to
    whoever reads the text as documents. `expected` is the verdict on AdmissionReviews that have no
    response."""
    found = []
    for one in DocumentReader().values(text):
        if isinstance(one, Problem):
            continue
        if review_tests.is_review(one[1]):
            found.append(review_tests.rewritten_review(*one, expected))
        for recognizes, rewrites in _FORMATS:
            if recognizes(one[1]):
                made = rewrites(*one)
                found += made if isinstance(made, list) else [made]
    return found
