"""From places in files to places in expressions, in every style of scalar, and back."""

from __future__ import annotations

import pytest

from celadon.cli.language_server.workspace_files import Position, edited_file, expression_at

HEAD = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  validations:
"""
#: `^` is the place in the file; the expression is shown with `^` at the same place.
SCALARS = {
    "plain": ("  - expression: '😀' ^== object.x", None),
    "plain at its beginning": ("  - expression: ^object.x", "^object.x"),
    "plain at its end": ("  - expression: object.x^", "object.x^"),
    "plain of several lines": ("  - expression: a.b &&\n      c.^d", "a.b && c.^d"),
    "single quotes": ("  - expression: 'a == ''é'' && b.^c'", "a == 'é' && b.^c"),
    "single quotes of several lines": ("  - expression: 'a &&\n      b.^c'", "a && b.^c"),
    "double quotes": ('  - expression: "a == \\"\\u00e9\\" && b.^c"', 'a == "é" && b.^c'),
    "double quotes with a line end": ('  - expression: "a &&\\n  b.^c"', "a &&\n  b.^c"),
    "literal": ("  - expression: |\n      a &&\n        b.^c\n", "a &&\n  b.^c\n"),
    "literal, a supplementary character": ("  - expression: |-\n      '😀' + b.^c", "'😀' + b.^c"),
    "literal, indented more": ("  - expression: |2-\n        a.^b", "  a.^b"),
    "folded": ("  - expression: >-\n      a &&\n      b.^c", "a && b.^c"),
    "folded, kept": ("  - expression: >+\n      a\n\n      b.^c\n\n", "a\nb.^c\n\n"),
    "flow": ("  - {expression: a.^b, message: x}", "a.^b"),
    "flow quoted": ('  - {"expression": "a.^b"}', "a.^b"),
    "anchor and tag": ("  - expression: &x !!str a.^b", "a.^b"),
    "behind the message": ("  - {message: x.^y, expression: a}", None),
    "no value yet": ("  - message: x\n    expression: ^", "^ "),
    "a quote that is open": ("  - message: x\n    expression: 'object.^", "object.^"),
    "a ternary in plain text": ("  - expression: a ? b : c.^\n    message: x", "a ? b : c.^"),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalars(name: str) -> None:
    written, expected = SCALARS[name]
    if name == "plain":  # begins with a quote, so it is no plain scalar, and nothing can be read
        written, expected = written.replace("'😀' ^==", 'f("😀").^x =='), 'f("😀").^x == object.x'
    text = HEAD + written
    at = text.index("^")
    file = edited_file("p.yaml", text.replace("^", ""))
    before = text[:at]
    column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    spot = expression_at(file, Position(before.count("\n"), column))
    if expected is None:
        assert spot is None
        return
    assert spot is not None
    assert spot.text[: spot.offset] + "^" + spot.text[spot.offset :] == expected


@pytest.mark.parametrize("name", [one for one, (_, shown) in SCALARS.items() if shown])
def test_words_are_found_in_the_file(name: str) -> None:
    written, _ = SCALARS[name]
    file = edited_file("p.yaml", HEAD + written.replace("^", ""))
    offset = (HEAD + written).index("^")
    spot = expression_at(file, file.lines.position(offset))
    assert spot is not None
    for start, character in enumerate(spot.text):
        placed = spot.span(start, start + 1)
        if placed is not None and character.isascii() and character.isalpha():
            assert file.text.content[slice(*placed)] == character
