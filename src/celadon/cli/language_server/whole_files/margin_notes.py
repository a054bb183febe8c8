"""What is shown beside the text: what expressions cost, and which tests a policy has."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from celadon.admission.lint import TypedScopes
from celadon.cli.language_server.expression_costs import cost_text
from celadon.cli.language_server.expression_spots import expression_spots
from celadon.cli.language_server.text_positions import Position, Span
from celadon.cli.language_server.workspace_files import EditedFile
from celadon.cli.reading.sources import EXTENSIONS, is_test_file
from celadon.kube import metadata
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.patterns import late_pattern
from celadon.records import dataclass

_POLICIES: Final = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
_POLICY_FILES: Final = late_pattern(r"^policies:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CostHint:
    """A text to be shown at a place, behind the line."""

    position: Position
    text: str


def cost_hints(file: EditedFile, span: Span, scopes: TypedScopes, size: int) -> list[CostHint]:
    """The costs of the expressions that begin in a span, for objects of that size."""
    found = []
    for spot in expression_spots(file):
        line = spot.document.line(spot.path) - 1
        if span.start.line <= line <= span.end.line:
            text = cost_text(spot.text, scopes.at(spot.document.value, spot.path), size)
            if text:
                end = Position(line, len(file.lines.line(line).encode("utf-16-le")) // 2)
                found.append(CostHint(end, text))
    return found


@dataclass(frozen=True, slots=True)
class TestLens:
    """The tests of a policy, to be run from the place where its document begins."""

    position: Position
    policy: str
    files: tuple[str, ...]


def test_lenses(file: EditedFile, tests: Iterable[str]) -> list[TestLens]:
    """Those of the policies in a file that one of the test files may be about: it stands in the
    same folder, or names the file."""
    path = os.path.abspath(file.text.file)
    own = tuple(one for one in tests if _is_about(one, path))
    return [
        TestLens(Position(one.line() - 1, 0), metadata.name(one.value), own)
        for one in file.documents
        if own and one.group_kind[0] == ADMISSION_REGISTRATION and one.group_kind[1] in _POLICIES
    ]


def test_files(folder: str) -> list[str]:
    """The tests of policies below a folder."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(parent, one) for one in names if one.endswith(EXTENSIONS)]
    return sorted(filter(is_test_file, found))


def _is_about(test: str, policy: str) -> bool:
    try:
        with open(test, encoding="utf-8") as stream:
            content = stream.read()
    except (OSError, UnicodeDecodeError):
        return False
    folder, name = os.path.split(policy)
    is_beside = os.path.dirname(os.path.abspath(test)) == folder
    return name in content or (is_beside and not _POLICY_FILES.search(content))
