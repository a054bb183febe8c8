"""Python's regular expressions of this package take steps in proportion to their subjects.

They are matched in C, in one call that nothing can end, while everything else waits: a thousand
zeros in an amount once took ten seconds. Nor do they remember each part of a long subject: a repeat
of a group that can be gone back to takes a hundred bytes for each of its rounds.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tracemalloc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from celadon.kube.validation.pods import security_contexts
from celadon.late_patterns import late_pattern
from tests.growth.counted_matching import CountedPattern, Subjects, TooManySteps, noted
from tests.growth.counted_steps import LINEAR
from tests.paths import ROOT

SOURCE = ROOT / "src" / "celadon"
METHODS = frozenset({"findall", "finditer", "fullmatch", "match", "search", "split", "sub"})
SUBJECTS = 40
FEW = 80
"""Characters that are repeated, first; then twice and four times as many."""
MANY = 3_000
"""Characters for those that are suspected."""
LONG = 20_000
MOST_BYTES = 30
"""That matching may take for each character."""
STRANGERS = ("admission/", "apiserver/", "cel/", "cli/reading/", "goyaml/", "kube/", "webhook/")
"""Where texts of strangers are matched, however long they are."""
BRIEF = frozenset({security_contexts._SYSCTL.pattern})
"""Of names of up to 253 characters; a message shows the pattern."""
Found = tuple[str, str, int, str]
"""A module, a pattern, its flags, and the method that it is used with."""


@pytest.fixture(autouse=True)
def _deep_calls() -> Iterator[None]:
    """Each step of a repeated group is some calls within the one before."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    yield
    sys.setrecursionlimit(limit)


def held(value: Any, depth: int = 3) -> Iterator[tuple[str, int]]:
    """The patterns in a constant, a few levels deep."""
    kinds: tuple[Any, ...] = (late_pattern, re.Pattern)
    if isinstance(value, kinds):
        text = value.pattern
        yield text if isinstance(text, str) else text.decode("latin-1"), int(value.flags)
    elif depth and isinstance(value, (dict, tuple, list, frozenset)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from held(one, depth - 1)


def constants(module: ModuleType, text: str) -> Iterator[tuple[str, int, frozenset[str]]]:
    """Those of a module, with the methods that it uses them with."""
    of_any = frozenset(re.findall(r"(?<!\bre)\.(\w+)\(", text)) & METHODS
    for name, value in vars(module).items():
        of_name = frozenset(re.findall(rf"\b{re.escape(name)}\.(\w+)", text)) & METHODS
        for pattern, flags in held(value):
            yield pattern, flags, of_name or of_any


def written_in_calls(text: str) -> Iterator[tuple[str, int, frozenset[str]]]:
    """Those of `re.sub(...)` and the like."""
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in METHODS
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value), 0, frozenset({node.func.attr})


@cache
def patterns() -> tuple[Found, ...]:
    """Of all modules that can be loaded here."""
    found: set[Found] = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "late_pattern(" not in text and "re." not in text:
            continue
        there = (*constants(loaded(path), text), *written_in_calls(text))
        name = str(path.relative_to(SOURCE))
        found |= {(name, *one[:2], method) for one in there for method in one[2]}
    return tuple(sorted(found))


def loaded(path: Path) -> ModuleType:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return importlib.import_module(".".join(one for one in parts if one != "__init__"))


def repeated(subject: tuple[str, str, str], count: int) -> str:
    before, piece, behind = subject
    return before + piece * count + behind


def growth(pattern: CountedPattern, method: str, subject: tuple[str, str, str]) -> float:
    """How many times as many steps the second doubling adds as the first."""
    length = FEW // len(subject[1]) + 1
    few, more, many = (
        pattern.count(method, repeated(subject, length * factor)) for factor in (1, 2, 4)
    )
    return (many - more) / max(more - few, FEW)


def goes_back(pattern: CountedPattern, method: str, subject: tuple[str, str, str]) -> bool:
    """Whether each character costs the more steps the more there are. What has a bound (`{100}`)
    may cost many steps at first."""
    try:
        if growth(pattern, method, subject) < LINEAR:
            return False
        count = MANY // len(subject[1])
        text = repeated(subject, count)
        pattern.count(method, text, most=len(text) * count // 5)
    except TooManySteps:
        return True
    return False


def offence(text: str, flags: int, method: str) -> object:
    """The first subject with which a pattern goes back too often."""
    pattern = CountedPattern(text, flags)
    subjects = Subjects(pattern).some(SUBJECTS)
    return next((one for one in subjects if goes_back(pattern, method, one)), None)


def remembered(pattern: re.Pattern[str], method: str, subject: tuple[str, str, str]) -> float:
    """How many bytes matching takes for each character of a long subject, beside what it finds."""
    text = repeated(subject, LONG // len(subject[1]))
    tracemalloc.start()
    try:
        if method in ("fullmatch", "match", "search"):
            getattr(pattern, method)(text)
        else:
            for _ in pattern.finditer(text):
                pass
        return tracemalloc.get_traced_memory()[1] / len(text)
    finally:
        tracemalloc.stop()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "method", "subject"),
    [
        ("(a*)*b", "fullmatch", ("", "a", "c")),
        ("0*[0-9]*[0-9]*", "fullmatch", ("", "0", "x")),
        ("[0-9]+s", "search", ("", "0", "")),
        (".*?b", "finditer", ("", "a", "")),
    ],
)
def test_what_goes_back_too_often_is_noticed(
    text: str, method: str, subject: tuple[str, str, str]
) -> None:
    assert goes_back(CountedPattern(text), method, subject)


def test_what_has_a_bound_may_cost_much() -> None:
    assert not goes_back(CountedPattern("a{0,100}b"), "search", ("", "a", ""))


@pytest.mark.parametrize(
    "text",
    [
        "(a)(b|c)*?d{2,3}$",
        "(?=a)[^b-d]+(?!x)",
        r"(?P<q>['\"])\w+(?P=q)",
        "(?>a+)b|a*+c",
        r"(?<=a)\b.",
    ],
)
@pytest.mark.parametrize("subject", ["abcdd", "azz", "'ab'", "aac", "a b", "a.", ""])
def test_the_same_is_matched(text: str, subject: str) -> None:
    ends: list[int] = []
    counted = CountedPattern(text)
    counted._subject = subject
    found = re.match(text, subject)
    matches = counted._whole(0, lambda end: noted(ends, end))
    assert (ends[-1] if matches else None) == (found.end() if found else None)


SENT = [
    ("apiserver.authn.signing_keys", "_BLOCK", "finditer", ("", "-----BEGIN A-----", "")),
    ("cel.values.timestamps", "_INTEGER", "fullmatch", ("", "0", "x")),
    ("goyaml.yaml_blocks", "_LINE", "fullmatch", ("", " ", "!")),
    ("kube.defaulting.field_functions", "_REFERENCE", "fullmatch", ("", "a", "/")),
    ("kube.go.go_text", "_MEDIA_TYPE", "fullmatch", ("a/b", " ", "c")),
    ("kube.go.go_time", "_PART", "finditer", ("", "9", "")),
    ("kube.jsonpath", "_NUMBER", "fullmatch", ("", "9", "x")),
    ("kube.quantity", "_PARTS", "fullmatch", ("", "0", "x")),
    ("webhook.certificates", "_BLOCK", "findall", ("", "-----BEGIN CERTIFICATE-----", "")),
    (
        "kube.validation.pods.volumes",
        "_ISCSI_NAMES",
        "finditer",
        ("", "iqn.2026-01.a:_iqn.2026-01.", " "),
    ),
]


@pytest.mark.parametrize(("module", "name", "method", "subject"), SENT, ids=[r[1] for r in SENT])
def test_what_strangers_send_is_read_in_proportion(
    module: str, name: str, method: str, subject: tuple[str, str, str]
) -> None:
    value = getattr(importlib.import_module(f"celadon.{module}"), name)
    for text, flags in held(value):
        assert not goes_back(CountedPattern(text, flags), method, subject)


REMEMBERED = [
    ("apiserver.http.request_bytes", "_HOST", "fullmatch", ("", "a", "")),
    ("cel.library.encoders", "_PADDED", "fullmatch", ("", "aaaa", "")),
    ("cli.reading.json_text", "_TOKEN", "finditer", ('"', "a", '"')),
    ("goyaml.yaml_blocks", "_LINE", "fullmatch", ("a: '", "''", "'")),
    ("goyaml.yaml_blocks", "_LINE", "fullmatch", ("a: b", ":b", "")),
    ("goyaml.yaml_blocks", "_LINE", "fullmatch", ("a: [b", ",b", "]")),
    ("kube.name_rules", "_SUBDOMAIN_PATTERN", "fullmatch", ("a", ".a", "")),
    ("kube.selectors", "_ESCAPED_TERM", "finditer", ("", "\\,", "")),
    ("kube.x509", "_BLOCK", "finditer", ("-----BEGIN A-----\n", "a\n", "-----END A-----")),
]


@pytest.mark.parametrize(("module", "name", "method", "subject"), REMEMBERED)
def test_what_strangers_send_is_not_remembered_part_by_part(
    module: str, name: str, method: str, subject: tuple[str, str, str]
) -> None:
    value = getattr(importlib.import_module(f"celadon.{module}"), name)
    for text, flags in held(value):
        assert remembered(re.compile(text, flags), method, subject) < MOST_BYTES


@pytest.mark.thorough
def test_patterns_remember_little() -> None:
    bad = [
        f"{module}: {method} {text!r}: {subject}"
        for module, text, flags, method in patterns()
        if module.startswith(STRANGERS) and text not in BRIEF
        for subject in Subjects(CountedPattern(text, flags)).some(SUBJECTS)
        if remembered(re.compile(text, flags), method, subject) > MOST_BYTES
    ]
    assert not bad, "\n".join(bad)


@pytest.mark.thorough
def test_patterns_take_steps_in_proportion() -> None:
    known = patterns()
    assert len(known) > 250
    bad = [
        f"{module}: {method} {text!r}: {found}"
        for module, text, flags, method in known
        if (found := offence(text, flags, method))
    ]
    assert not bad, "\n".join(bad)
