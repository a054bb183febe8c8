"""What a real API server answered to `matches`, `find` and `findAll` with literal arguments."""

from __future__ import annotations

import json
import re
from typing import Any

from celadon.cel.re2 import RegexError, compile
from tests.paths import shared

_TEXT = r"'((?:[^'\\]|\\.)*)'"
_CALL = re.compile(rf"{_TEXT}\.(matches|find|findAll)\({_TEXT}(?:, (\d+))?\)")
_GLOBAL = re.compile(rf"matches\({_TEXT}, {_TEXT}\)")
_ESCAPES = {"n": "\n", "\\": "\\", "'": "'"}


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES[found[1]], text)


def _answer(call: re.Match[str]) -> object:
    text, function, pattern, limit = call.groups()
    text = _unescape(text)
    compiled = compile(_unescape(pattern))
    if function == "matches":
        return {"bool": bool(compiled.search_fn(text))}
    if function == "find":
        start, end = compiled.find(text) or (0, 0)
        return {"string": text[start:end]}
    spans = compiled.find_all(text, int(limit) if limit else -1)
    return {"list": [{"string": text[start:end]} for start, end in spans]}


def _expected(case: dict[str, Any]) -> object:
    return case.get("program_error") or case.get("compile_error") or case["value"]


def _call(expression: str) -> re.Match[str] | None:
    found = _GLOBAL.fullmatch(expression)
    if found is not None:
        return _CALL.fullmatch(f"'{found[1]}'.matches('{found[2]}')")
    return _CALL.fullmatch(expression)


def test_recorded_answers() -> None:
    cases = json.loads(shared("conformance", "cel-kubernetes", "regex.json").read_text())
    compared = 0
    for case in cases:
        call = _call(case["expr"])
        if call is None:
            continue
        compared += 1
        expected = _expected(case)
        try:
            answer = _answer(call)
        except RegexError as error:
            answer = str(error)
        if isinstance(expected, str) and "invalid matches argument" in expected:
            assert isinstance(answer, str), case["expr"]
        else:
            assert answer == expected, case["expr"]
    assert compared > 400
