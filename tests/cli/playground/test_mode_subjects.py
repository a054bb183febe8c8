"""What a mode is about."""

from __future__ import annotations

import re

import pytest

from celadon.cli.playground.judging import NAMES, wrong_subject
from celadon.cli.playground.panes import PANES_OF, Mode
from celadon.cli.reading.documents import Document, DocumentReader, Text
from tests.cli.playground.states import DEFINITION, POLICY, WEBHOOK
from tests.paths import ROOT

TEXTS = {Mode.VALIDATING: POLICY, Mode.RULES: DEFINITION, Mode.WEBHOOK: WEBHOOK}
MODES = (ROOT / "web" / "src" / "modes.js").read_text(encoding="utf-8")


def documents(text: str) -> list[Document]:
    found = DocumentReader().read(Text("policy", text))
    return [one for one in found if isinstance(one, Document)]


@pytest.mark.parametrize("mode", TEXTS)
@pytest.mark.parametrize("other", TEXTS)
def test_one_thing_of_the_mode_is_enough(mode: Mode, other: Mode) -> None:
    wrong = wrong_subject(mode, documents(TEXTS[other]))
    assert (wrong is None) is (mode is other)
    both = f"{TEXTS[other]}---\n{TEXTS[mode]}"
    assert wrong_subject(mode, documents(both)) is None


def test_what_decides_nothing_is_nobody_s_subject() -> None:
    assert wrong_subject(Mode.RULES, documents("apiVersion: v1\nkind: ConfigMap\n")) is None
    assert wrong_subject(Mode.RULES, []) is None


def test_the_page_has_the_same_names() -> None:
    shown = dict(re.findall(r'^  (\w+): \{ label: "([^"]+)", policies', MODES, re.MULTILINE))
    assert {mode: shown[mode.value] for mode in NAMES} == NAMES


def test_the_page_shows_the_panes_that_count() -> None:
    text = MODES.replace("request: AROUND", f"request: {_listed('const AROUND = ')}")
    rows = re.findall(
        r"^  (\w+): \{ label: .*?policies: \[(.*?)\], request: \[(.*?)\](?:, proofs: \[(.*?)\])?",
        text,
        re.MULTILINE,
    )
    shown = {mode: set(re.findall(r"\w+", " ".join(groups))) for mode, *groups in rows}
    assert shown == {mode.value: {pane.value for pane in panes} for mode, panes in PANES_OF.items()}


def _listed(before: str) -> str:
    """What stands in brackets there."""
    return MODES.split(before)[1].split(";")[0]
