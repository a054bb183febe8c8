"""Every style of scalar, before and after."""

from __future__ import annotations

import pytest

from tests.cli.test_file_layout import HEAD, laid_out

LONG = "object.spec.first&&object.spec.second"
SPLIT = "object.spec.first &&", "object.spec.second"

ROWS = {
    "plain": ("expression: a&&b", "expression: a && b"),
    "plain with a comment": ("expression: a&&b  # why", "expression: a && b  # why"),
    "plain that gets a colon": ("expression: a?b:c", "expression: 'a ? b : c'"),
    "plain that gets a colon, with quotes": (
        "expression: a?'b':c",
        "expression: \"a ? 'b' : c\"",
    ),
    "plain that gets a colon, with both quotes": (
        "expression: a?'b':\"c\"",
        "expression: |-\n      a ? 'b' : \"c\"",
    ),
    "plain with both quotes in flow": (
        "{expression: a?'b':\"c\"}",
        "{expression: 'a ? ''b'' : \"c\"'}",
    ),
    "plain on several lines": ("expression: a &&\n      b", "expression: a && b"),
    "plain below its key": ("expression:\n      a&&b", "expression: a && b"),
    "plain, too long": (f"expression: {LONG}", "expression:\n      {0}\n      {1}"),
    "plain, too long, with a comment": (
        f"expression: {LONG}  # why",
        "expression: {0} {1}  # why",
    ),
    "plain that cannot be shorter": (
        "expression: aaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbb",
        "expression: aaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbb",
    ),
    "a comment between": (
        f"expression:  # why\n        {LONG}",
        "expression:  # why\n        {0}\n        {1}",
    ),
    "single quotes": ("expression: 'a==''x'''", "expression: 'a == ''x'''"),
    "single quotes, too long": (f"expression: '{LONG}'", "expression:\n      '{0}\n      {1}'"),
    "double quotes": ('expression: "a==\\"\\u0078\\""', 'expression: "a == \\"x\\""'),
    "double quotes, too long": (f'expression: "{LONG}"', 'expression:\n      "{0}\n      {1}"'),
    "double quotes with a comment in it": (
        'expression: "a // x\\n&&b"',
        "expression: |-\n      a // x\n      &&\n      b",
    ),
    "double quotes in flow with a comment in it": (
        '{expression: "a // x\\n&&b"}',
        '{expression: "a // x\\n&&\\nb"}',
    ),
    "a key in quotes": ('"expression": a&&b', '"expression": a && b'),
    "flow, too long": (f"{{expression: {LONG}}}", "{{expression: {0} {1}}}"),
    "flow marks": ("{expression: '[a,b]'}", "{expression: '[a, b]'}"),
    "an anchor and a tag": ("expression: &x !!str a&&b", "expression: &x !!str a && b"),
    "an anchor, too long": (
        f"expression: &x\n      '{LONG}'",
        "expression: &x\n      '{0}\n      {1}'",
    ),
    "literal": (f"expression: |\n      {LONG}\n", "expression: |\n      {0}\n      {1}\n"),
    "literal, deep, stripped": (
        f"expression: |-  # why\n            {LONG}",
        "expression: |-  # why\n            {0}\n            {1}",
    ),
    "literal with its indentation": (
        "expression: |2-\n        a\n      &&b",
        "expression: |2-\n      a && b",
    ),
    "literal with lines before and after": (
        "expression: |+\n\n      a&&b\n\n",
        "expression: |+\n      a && b\n\n",
    ),
    "literal with a text of lines": (
        "expression: |\n      '''x\n        y\n\n      z'''+a",
        "expression: |\n      '''x\n        y\n\n      z''' + a",
    ),
    "folded": (f"expression: >-\n      {LONG}", "expression: >-\n      {0}\n      {1}"),
    "folded with deeper lines": (
        "expression: >-\n      f(\n        a,b)",
        "expression: >-\n      f(a, b)",
    ),
    "folded with a comment in it": (
        "expression: >\n      a // x\n\n      &&b",
        "expression: |\n      a // x\n      &&\n      b",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name: str) -> None:
    before, after = ROWS[name]
    head = f"{HEAD}spec:\n  validations:\n  -"
    tail = "\n    message: a&&b\n" if not before.startswith("{") else "\n"
    if "{0}" in after:
        after = after.format(*SPLIT)
    made = laid_out(f"{head} {before}{tail}").content()
    assert made == f"{head} {after}{tail}"
    assert laid_out(made).misplaced == ()
