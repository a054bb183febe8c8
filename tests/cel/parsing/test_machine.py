"""Syntax errors: the texts and places that cel-go's parser gives.

The rows were observed: recorded from kube-apiserver, or documented by cel-go's own tests; those
under "by the algorithm" follow from it and guard against accidental change.
"""

from __future__ import annotations

import json

import pytest

from celadon.cel.errors import Source
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.parsing.recursive_descent import ParseLimits
from tests.cel.trees import EVERYTHING, errors
from tests.paths import shared

_LITERALS = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
#: What may begin an expression.
E = f"{{'[', '{{', '(', '.', '-', '!', {_LITERALS}}}"
IN_LIST = f"{{'[', '{{', '(', '.', '-', '!', '?', {_LITERALS}}}"
IN_CALL = f"{{'[', '{{', '(', ')', '.', '-', '!', {_LITERALS}}}"
IN_MAP = f"{{'[', '{{', '}}', '(', '.', ',', '-', '!', '?', {_LITERALS}}}"
IN_MESSAGE = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"


def syntax_errors(text: str, options: ParseOptions = EVERYTHING) -> list[str]:
    return [error.replace(" Syntax error:", "") for error in errors(text, options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [f"1:0 mismatched input '<EOF>' expecting {E}"]),
        ("1 +", [f"1:4 mismatched input '<EOF>' expecting {E}"]),
        ("a && ", [f"1:6 mismatched input '<EOF>' expecting {E}"]),
        ("(1", ["1:3 missing ')' at '<EOF>'"]),
        ("a[1", ["1:4 missing ']' at '<EOF>'"]),
        ("a b", ["1:3 extraneous input 'b' expecting <EOF>"]),
        ("a b c", ["1:3 mismatched input 'b' expecting <EOF>"]),
        ("1 + 2\n3 +", ["2:1 mismatched input '3' expecting <EOF>"]),
        ("a::b", ["1:2 mismatched input ':' expecting <EOF>"]),
        ("!", [f"1:2 extraneous input '<EOF>' expecting {E}"]),
        (
            "-",
            [
                "1:2 no viable alternative at input '-'",
                f"1:2 mismatched input '<EOF>' expecting {E}",
            ],
        ),
        (
            "--",
            [
                "1:3 no viable alternative at input '-'",
                f"1:3 mismatched input '<EOF>' expecting {E}",
            ],
        ),
        ("1 ? 2", ["1:6 mismatched input '<EOF>' expecting ':'"]),
        ("object?.x", ["1:10 mismatched input '<EOF>' expecting ':'"]),
        ("f(,)", [f"1:3 extraneous input ',' expecting {IN_CALL}"]),
        ("1.", ["1:3 no viable alternative at input '.'"]),
        ("0xG", ["1:2 extraneous input 'xG' expecting <EOF>"]),
        ("object.true", ["1:8 mismatched input 'true' expecting IDENTIFIER"]),
        ("self.true == 1", ["1:6 mismatched input 'true' expecting IDENTIFIER"]),
        (
            "object.in",
            [
                "1:8 no viable alternative at input '.in'",
                f"1:10 mismatched input '<EOF>' expecting {E}",
            ],
        ),
        (
            "in",
            [
                f"1:1 mismatched input 'in' expecting {E}",
                f"1:3 mismatched input '<EOF>' expecting {E}",
            ],
        ),
        (
            "?",
            [
                f"1:1 mismatched input '?' expecting {E}",
                f"1:2 mismatched input '<EOF>' expecting {E}",
            ],
        ),
        (
            "*@a | b",
            [
                f"1:1 extraneous input '*' expecting {E}",
                "1:2 token recognition error at: '@'",
                "1:5 token recognition error at: '| '",
                "1:7 extraneous input 'b' expecting <EOF>",
            ],
        ),
        (
            "1 + +",
            [
                f"1:5 mismatched input '+' expecting {E}",
                f"1:6 mismatched input '<EOF>' expecting {E}",
            ],
        ),
        ("{", [f"1:2 mismatched input '<EOF>' expecting {IN_MAP}"]),
        ("{a}", ["1:3 mismatched input '}' expecting ':'"]),
        (
            "{:a}",
            [
                f"1:2 extraneous input ':' expecting {IN_MAP}",
                "1:4 mismatched input '}' expecting ':'",
            ],
        ),
        ('{"a": 1}."a"', ["1:10 no viable alternative at input '.\"a\"'"]),
        ("T(){}", ["1:4 mismatched input '{' expecting <EOF>"]),
        ("T{}()", ["1:4 mismatched input '(' expecting <EOF>"]),
        (
            "func{{a}}",
            [
                f"1:6 extraneous input '{{' expecting {IN_MESSAGE}",
                "1:8 mismatched input '}' expecting ':'",
                "1:9 extraneous input '}' expecting <EOF>",
            ],
        ),
        (
            "msg{:a}",
            [
                f"1:5 extraneous input ':' expecting {IN_MESSAGE}",
                "1:7 mismatched input '}' expecting ':'",
            ],
        ),
        ("x{.", [f"1:3 mismatched input '.' expecting {IN_MESSAGE}"]),
        ("ind[a{b}]", ["1:8 mismatched input '}' expecting ':'"]),
        ("`b-c`", [f"1:1 mismatched input '`b-c`' expecting {E}"]),
        ("a.`b.c`()", ["1:8 mismatched input '(' expecting <EOF>"]),
        (
            "a in 'b' && in.😁",
            [
                f"1:13 extraneous input 'in' expecting {E}",
                "1:16 token recognition error at: '😁'",
                "1:17 no viable alternative at input '.'",
            ],
        ),
        (
            r'"\q"',
            [
                r"""1:1 token recognition error at: '"\q'""",
                """1:4 token recognition error at: '"'""",
                f"1:5 mismatched input '<EOF>' expecting {E}",
            ],
        ),
        (
            "'a\nb'",
            ["1:1 token recognition error at: ''a\n'", "2:2 token recognition error at: '''"],
        ),
    ],
)
def test_observed(text: str, expected: list[str]) -> None:
    assert syntax_errors(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a.?true",
            [
                "1:4 mismatched input 'true' expecting {IDENTIFIER, ESC_IDENTIFIER}",
                "1:4 unsupported ident kind",
            ],
        ),
        (
            "[a].all(.,b)",
            ["1:0 argument must be a simple name", "1:10 no viable alternative at input '.,'"],
        ),
        (
            "[a].all(\n.,b)",
            ["1:0 argument must be a simple name", "2:2 no viable alternative at input '.,'"],
        ),
        ("[1 2]", ["1:4 extraneous input '2' expecting {']', ','}"]),
        ("[1,,2]", ["1:4 mismatched input ',' expecting ']'"]),
        ("{1: 2,,}", ["1:7 extraneous input ',' expecting '}'"]),
        ("f(a,)", [f"1:5 mismatched input ')' expecting {E}"]),
        ("a[", [f"1:3 mismatched input '<EOF>' expecting {IN_LIST}"]),
        ("a.b.(c)", ["1:5 no viable alternative at input '.('"]),
        ("a .\t// c\n 1", ["2:2 no viable alternative at input '.\\t// c\\n 1'"]),
        (
            "a. @ 1",
            ["1:4 token recognition error at: '@'", "1:6 no viable alternative at input '.  1'"],
        ),
        ("-1 b", ["1:4 extraneous input 'b' expecting <EOF>"]),
        ("-1.", ["1:4 no viable alternative at input '.'"]),
        ("(-9223372036854775808", ["1:22 missing ')' at '<EOF>'"]),
        ("!-a", ["1:3 no viable alternative at input '-a'"]),
        (
            "a ? : b",
            [
                f"1:5 extraneous input ':' expecting {E}",
                "1:8 mismatched input '<EOF>' expecting ':'",
            ],
        ),
        ("a == == b", [f"1:6 extraneous input '==' expecting {E}"]),
        (
            "'\n",
            [
                "1:1 token recognition error at: ''\n'",
                f"2:1 mismatched input '<EOF>' expecting {E}",
            ],
        ),
    ],
)
def test_by_the_algorithm(text: str, expected: list[str]) -> None:
    assert syntax_errors(text) == expected


#: The second failure of each is at a token behind one that matched or was deleted, in a state that
#: failed before: what was remembered of the first failure must be gone by then.
FAILED_TWICE = [
    (", .", [f"1:1 extraneous input ',' expecting {E}", "1:4 no viable alternative at input '.'"]),
    (
        "&& [ . && [ . . a: a",
        [
            f"1:1 extraneous input '&&' expecting {E}",
            "1:8 no viable alternative at input '. &&'",
            "1:15 no viable alternative at input '. .'",
        ],
    ),
    (
        ". ! ? ( ) . ! ? ( ) ) &&",
        [
            "1:3 no viable alternative at input '. !'",
            f"1:9 extraneous input ')' expecting {E}",
            "1:13 no viable alternative at input '. !'",
            f"1:25 mismatched input '<EOF>' expecting {E}",
        ],
    ),
    (
        "{ : . ,a { : . ,a : ! f(",
        [
            f"1:3 extraneous input ':' expecting {IN_MAP}",
            "1:7 no viable alternative at input '. ,'",
            f"1:12 mismatched input ':' expecting {IN_MESSAGE}",
            "1:16 no viable alternative at input '. ,'",
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), FAILED_TWICE)
def test_a_match_ends_the_recovery(text: str, expected: list[str]) -> None:
    assert syntax_errors(text) == expected


def limited(**limits: int) -> ParseOptions:
    return ParseOptions(limits=ParseLimits(**limits))


def test_attempts_to_recover_are_limited() -> None:
    assert syntax_errors("a + (? b ?) c ?", limited(recovery_attempts=2)) == [
        f"1:6 extraneous input '?' expecting {E}",
        f"1:11 extraneous input ')' expecting {E}",
        "1:15 mismatched input '?' expecting ':'",
        "1:15 error recovery attempt limit exceeded: 2",
    ]


def test_tokens_skipped_in_one_recovery_are_limited() -> None:
    text = "a 1 2 3 4 5"
    mismatch = "1:3 mismatched input '1' expecting <EOF>"
    assert syntax_errors(text, limited(recovery_lookahead=5)) == [mismatch]
    exceeded = "-1:0 error recovery token lookahead limit exceeded: 4"
    assert syntax_errors(text, limited(recovery_lookahead=4)) == [exceeded, mismatch]


def test_syntax_errors_are_limited() -> None:
    found = syntax_errors("@" * 5, limited(syntax_errors=3))
    assert found == [
        "1:1 token recognition error at: '@'",
        "1:2 token recognition error at: '@'",
        "1:3 token recognition error at: '@'",
        "1:4 More than 3 syntax errors",
    ]


def test_a_parse_that_stops_early_does_not_read_on() -> None:
    assert syntax_errors("(" * 9 + "@", limited(recursion=8)) == [
        "-1:0 expression recursion limit exceeded: 8"
    ]


def test_errors_beyond_syntax_accompany_syntax_errors() -> None:
    assert errors("if (x) y") == [
        "1:1 reserved identifier: if",
        "1:8 Syntax error: extraneous input 'y' expecting <EOF>",
    ]
    assert errors("has(1 +) + [var") == [
        "1:7 invalid argument to has() macro",
        f"1:8 Syntax error: mismatched input ')' expecting {E}",
        "1:13 reserved identifier: var",
        "1:16 Syntax error: mismatched input '<EOF>' expecting {']', ','}",
    ]


def test_negative_numbers_in_long_broken_lists_take_linear_time() -> None:
    assert len(syntax_errors("[" + "-1," * 3000 + "!")) == 1


def test_all_recorded_syntax_errors() -> None:
    """Every recorded compile error that is one of parsing, to the letter."""
    compared = 0
    for path in sorted(shared("conformance", "cel-kubernetes").glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            recorded = case.get("compile_error", "")
            if "Syntax error: " in recorded:
                _, issues = parse(Source(case["expr"]), EVERYTHING)
                assert issues.display() == recorded
                compared += 1
    assert compared
