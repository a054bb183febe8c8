"""The page about fidelity is what its tool makes of the lists and numbers."""

from __future__ import annotations

from tools.fidelity_page import ABOUT, EXPRESSIONS, page

from tests.paths import ROOT
from tests.recorded import agreement
from tests.recorded.scenarios import GROUPS, every_group


def test_the_page_is_what_the_tool_writes() -> None:
    written = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    assert written == page(), "python -m tools.fidelity_page > docs/fidelity.md"


def test_every_group_is_told_of() -> None:
    assert ABOUT.keys() == {group.name for group in GROUPS}


def test_numbers_are_of_what_there_is() -> None:
    known = agreement.agreement()
    older = {group.label for group in every_group() if group.release}
    assert known[agreement.SCENARIOS].keys() <= ABOUT.keys() | older
    assert known[agreement.EXPRESSIONS].keys() == EXPRESSIONS.keys()
    for section in known.values():
        for found in section.values():
            assert all(number <= found["all"] for number in found.values())
