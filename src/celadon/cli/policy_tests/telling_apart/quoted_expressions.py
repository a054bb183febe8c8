"""Expressions in messages: what a validation says that has no message, and what an error says.

An altered expression is another text, so whoever expects such a message would notice any change at
once, whatever it does. What is expected of an altered policy, and what it shows, therefore has the
one text in the place of the other.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from celadon.cli.policy_tests.altering.alterations import Alteration
from celadon.cli.policy_tests.expectations import Expectation, TextMatch
from celadon.cli.policy_tests.policy_test import Case

_QUOTES: Final = (("failed expression: ", ""), ("expression '", "'"))
"""What stands before and behind an expression, as `celadon.admission` puts it."""


def for_altered(case: Case, alteration: Alteration) -> Case:
    """The case with what is expected where its messages quote the altered expression."""
    texts = _texts(alteration)
    if texts is None:
        return case
    original, altered = texts
    wanted = case.expect

    def put(found: TextMatch) -> TextMatch:
        return replace(found, text=_quoting(found.text, original, altered))

    same = isinstance(wanted.validation, str) and wanted.validation.split() == original.split()
    expect: Expectation = replace(
        wanted,
        message=None if wanted.message is None else put(wanted.message),
        warnings=None if wanted.warnings is None else tuple(map(put, wanted.warnings)),
        audit_annotations={key: put(one) for key, one in wanted.audit_annotations.items()},
        validation=altered if same else wanted.validation,
    )
    return replace(case, expect=expect)


def as_original(shown: str, alteration: Alteration) -> str:
    """JSON in which messages quote the altered expression, with the original one."""
    texts = _texts(alteration)
    if texts is None:
        return shown
    once = [json.dumps(one)[1:-1] for one in texts]
    twice = [json.dumps(one)[1:-1] for one in once]
    for original, altered in (once, twice):
        shown = _quoting(shown, altered, original)
    return shown


def _texts(alteration: Alteration) -> tuple[str, str] | None:
    """The original expression and the altered one."""
    original = alteration.document.value_at(alteration.path)
    if alteration.expression is None or not isinstance(original, str):
        return None
    return original.strip(), alteration.expression.text.strip()


def _quoting(text: str, old: str, new: str) -> str:
    for before, behind in _QUOTES:
        text = text.replace(f"{before}{old}{behind}", f"{before}{new}{behind}")
    return text
