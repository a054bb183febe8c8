"""The tables agree with Python's where its Unicode is no older and the character not newer."""

from __future__ import annotations

import itertools
import unicodedata

import pytest

from celadon.cel.re2.character_classes import unicode_set
from celadon.cel.re2.pattern_tree import contains, fold, negate, normalize, orbit
from celadon.cel.re2.unicode15 import load_categories

_PYTHON_IS_UNICODE_15 = unicodedata.unidata_version == "15.0.0"


def test_categories_cover_everything_once() -> None:
    ranges = sorted(pair for chars in load_categories().values() for pair in chars)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 0x10FFFF
    assert all(high + 1 == low for (_, high), (low, _) in itertools.pairwise(ranges))


@pytest.mark.parametrize(
    "points", [range(0x600), range(0x1E00, 0x2C00, 3), range(0x3000, 0x3100), range(0xE000, 0xE010)]
)
def test_categories_are_those_of_python(points: range) -> None:
    wrong = [
        point
        for point in points
        if (category := unicodedata.category(chr(point))) != "Cn"
        and not contains(unicode_set(category) or (), point)
        and _PYTHON_IS_UNICODE_15
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "members", "others"),
    [
        ("Greek", "αΩἀ", "aж"),
        ("greek", "α", "a"),
        ("Cyrillic", "жЯ", "aα"),
        ("Han", "漢々", "あ"),
        ("Hiragana", "あ", "ア漢"),
        ("Latin", "aÿ", "1α"),
        ("Common", "1 -", "a"),
        ("Kawi", "\U00011f02", "a"),
        ("L", "aǅ漢", "1_"),
        ("Letter", "a", "1"),
        ("uppercase_letter", "A", "a"),
        ("Lc", "aAǅ", "漢"),
        ("Nd", "1٣", "Ⅷ"),
        ("digit", "1٣", "Ⅷ"),
        ("Zs", " \u00a0", "\n"),
        ("C", "\0\u0378", "a"),
        ("Assigned", "a", "\u0378"),
        ("ascii", "a\x7f", "é"),
        ("Any", "a\U0010ffff", ""),
    ],
)
def test_names(name: str, members: str, others: str) -> None:
    chars = unicode_set(name)
    assert chars is not None
    assert all(contains(chars, ord(char)) for char in members)
    assert not any(contains(chars, ord(char)) for char in others)


@pytest.mark.parametrize("name", ["", "Foo", "Old_Italic", "OldItalic", "SignWriting", "Phags_Pa"])
def test_unknown_names(name: str) -> None:
    assert unicode_set(name) is None


@pytest.mark.parametrize(
    ("char", "expected"),
    [
        ("a", "Aa"),
        ("k", "Kk\u212a"),
        ("ſ", "Ssſ"),
        ("ß", "ßẞ"),
        ("İ", "İ"),
        ("ı", "ı"),
        ("σ", "Σςσ"),
        ("ᾳ", "ᾳᾼ"),
        ("1", "1"),
        ("漢", "漢"),
    ],
)
def test_orbits(char: str, expected: str) -> None:
    assert "".join(map(chr, orbit(ord(char)))) == expected


def test_folding_a_set_adds_all_cases() -> None:
    assert fold(((0x6B, 0x6B),)) == ((0x4B, 0x4B), (0x6B, 0x6B), (0x212A, 0x212A))
    assert fold(((0x30, 0x39),)) == ((0x30, 0x39),)
    assert fold(((0, 0x10FFFF),)) == ((0, 0x10FFFF),)


def test_sets_are_normalized_and_negated() -> None:
    assert normalize([(5, 6), (1, 2), (3, 3), (6, 9)]) == ((1, 3), (5, 9))
    assert negate(((0, 3), (5, 9))) == ((4, 4), (10, 0x10FFFF))
    assert negate(negate(((1, 2), (5, 5)))) == ((1, 2), (5, 5))


CATEGORIES = {
    "Lu": "Uppercase_Letter", "Ll": "Lowercase_Letter", "Lt": "Titlecase_Letter",
    "Lm": "Modifier_Letter", "Lo": "Other_Letter", "Mn": "Nonspacing_Mark",
    "Mc": "Spacing_Mark", "Me": "Enclosing_Mark", "Nd": "Decimal_Number", "Nl": "Letter_Number",
    "No": "Other_Number", "Pc": "Connector_Punctuation", "Pd": "Dash_Punctuation",
    "Ps": "Open_Punctuation", "Pe": "Close_Punctuation", "Pi": "Initial_Punctuation",
    "Pf": "Final_Punctuation", "Po": "Other_Punctuation", "Sm": "Math_Symbol",
    "Sc": "Currency_Symbol", "Sk": "Modifier_Symbol", "So": "Other_Symbol",
    "Zs": "Space_Separator", "Zl": "Line_Separator", "Zp": "Paragraph_Separator",
    "Cc": "Control", "Cf": "Format", "Cs": "Surrogate", "Co": "Private_Use", "Cn": "Unassigned",
    "L": "Letter", "M": "Mark", "N": "Number", "P": "Punctuation", "S": "Symbol",
    "Z": "Separator", "C": "Other", "LC": "Cased_Letter",
}  # fmt: skip
"""Names of general categories in Unicode's `PropertyValueAliases.txt`; four have another one."""
OTHER_NAMES = {"Cc": "cntrl", "M": "Combining_Mark", "Nd": "digit", "P": "punct"}


@pytest.mark.parametrize(("short", "name"), [*CATEGORIES.items(), *OTHER_NAMES.items()])
def test_long_names_of_categories(short: str, name: str) -> None:
    found = unicode_set(short)
    assert found
    for written in (name, name.replace("_", ""), name.replace("_", " ").lower(), name.upper()):
        assert unicode_set(written) == found, written
    assert unicode_set(f"{name}x") is None
