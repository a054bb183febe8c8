"""Policies that were damaged: whatever they are, there are findings or problems, with places.

`CELADON_MUTATIONS=10000` says how many are tried; a few hundred by default.
"""

from __future__ import annotations

import copy
import os
import random
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celadon.admission.lint import RULES, Settings
from celadon.cli.lint import LintInput, LintSetup, findings
from celadon.cli.reading.documents import Document, DocumentReader, Text
from tests.admission.lint.linting import documents
from tests.paths import ROOT

MUTATIONS = int(os.environ.get("CELADON_MUTATIONS", "300"))
LINT = LintSetup(Settings("1.36", ("1.30",)), RULES)
EXAMPLES = [
    *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").rglob("*.yaml"))),
    *(yaml.safe_dump_all(documents(rule.bad), sort_keys=False) for rule in RULES),
]
JUNK: list[Any] = [
    None, True, 0, -1, 1.5, 2**70, "", "x", "*", "a/b/c", "\x00", "👑", [], {}, [None], [[]],
    {"": ""}, [{}], {"a": None}, "object", "oldObject.a.b", "variables.x", "[1][0]", "{}[''].a",
    "object.x.all(y, y.z)", "has(object.a.?b)", "'" * 7, "(" * 60, "a.b" * 40, "params.data['x']",
    "cel.bind(a, object.b, a.c)", "DELETE", "v1beta1", "1.0", "apps",
]  # fmt: skip


def check(text: str) -> None:
    """Lints a file with this content."""
    given_input = LintInput(texts={"f": Text("f", text)})
    for item in DocumentReader().read(Text("f", text)):
        if isinstance(item, Document):
            given_input.documents.append(item)
        else:
            assert item.message
    shown, _ = findings(given_input, LINT)
    lines = text.split("\n")
    for one in shown:
        assert one.located.message
        assert 1 <= one.located.line <= len(lines)
        assert 1 <= one.located.column <= len(lines[one.located.line - 1]) + 1


def mutated(value: Any, chance: random.Random) -> Any:
    """The value with some part of it replaced, left out or repeated."""
    if chance.random() < 0.04:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        made = {}
        for key, member in value.items():
            if chance.random() < 0.03:
                continue
            made[chance.choice(JUNK[6:12]) if chance.random() < 0.02 else key] = mutated(
                member, chance
            )
        return made
    if isinstance(value, list):
        made_list = [mutated(item, chance) for item in value]
        return made_list * 2 if chance.random() < 0.05 else made_list
    if isinstance(value, str) and len(value) > 3 and chance.random() < 0.3:
        return _damaged(value, chance)
    return copy.copy(value)


def _damaged(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text))
    junk = chance.choice(["", "(", ")", "'", "\n", " ", "\\", "?", ".x", "[0]", "é", "\u2028", "#"])
    return text[:at] + junk + text[at + chance.randrange(3) :]


@pytest.mark.thorough
@settings(
    max_examples=MUTATIONS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.sampled_from(EXAMPLES), st.integers(0, 2**32), st.booleans())
def test_damaged_documents(example: str, seed: int, as_text: bool) -> None:
    chance = random.Random(seed)
    if as_text:
        for _ in range(chance.randrange(1, 4)):
            example = _damaged(example, chance)
        check(example)
        return
    made = [mutated(one, chance) for one in yaml.safe_load_all(example)]
    style = chance.choice([None, "'", '"', "|", ">"])
    check(yaml.safe_dump_all(made, default_style=style, allow_unicode=True, sort_keys=False))


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_undamaged_documents(example: str) -> None:
    check(example)
