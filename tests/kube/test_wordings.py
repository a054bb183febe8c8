"""What releases say differently: one row per text, with what each side of the change says."""

from __future__ import annotations

import pytest

from celadon.kube import FieldPath, fieldpath, name_rules
from celadon.kube.go.go_text import GoValue
from celadon.kube.releases import answering_as, since, until, wording

PATH = FieldPath("f")
LONG = "x" * 64


def test_a_wording_goes_by_the_release() -> None:
    text = wording("new", v1_32="old", v1_34="newer")
    said = {}
    for release in ("1.31", "1.32", "1.33", "1.34", "1.36"):
        with answering_as(release):
            said[release] = text.text
    assert said == {"1.31": "old", "1.32": "newer", "1.33": "newer", "1.34": "new", "1.36": "new"}


def test_a_rule_that_came_later_finds_nothing_before() -> None:
    @since("1.34")
    def rule(text: str):  # type: ignore[no-untyped-def]
        yield text

    with answering_as("1.33"):
        assert list(rule("a")) == []
    with answering_as("1.34"):
        assert list(rule("a")) == ["a"]


def test_a_rule_that_went_finds_nothing_since() -> None:
    @until("1.34")
    def rule(text: str):  # type: ignore[no-untyped-def]
        yield text

    with answering_as("1.33"):
        assert list(rule("a")) == ["a"]
    with answering_as("1.34"):
        assert list(rule("a")) == []


@pytest.mark.parametrize(
    ("release", "error", "text"),
    [
        ("1.33", fieldpath.invalid(PATH, ["a"], "x"), 'f: Invalid value: []string{"a"}: x'),
        ("1.34", fieldpath.invalid(PATH, ["a"], "x"), 'f: Invalid value: ["a"]: x'),
        ("1.33", fieldpath.invalid(PATH, None, "x"), 'f: Invalid value: "null": x'),
        ("1.34", fieldpath.invalid(PATH, None, "x"), "f: Invalid value: null: x"),
        ("1.33", fieldpath.invalid(PATH, 5, "x"), "f: Invalid value: 5: x"),
        (
            "1.33",
            fieldpath.invalid(PATH, GoValue(None, "map[string]string"), "x"),
            "f: Invalid value: map[string]string(nil): x",
        ),
        ("1.33", fieldpath.invalid(PATH, GoValue(0, "uint64"), ""), "f: Invalid value: 0x0"),
        ("1.34", fieldpath.invalid(PATH, GoValue(0, "uint64"), ""), "f: Invalid value: 0"),
    ],
)
def test_bad_values_are_shown_as_go_or_as_json(
    release: str, error: fieldpath.FieldError, text: str
) -> None:
    with answering_as(release):
        assert str(error) == text


@pytest.mark.parametrize(
    ("release", "text"),
    [
        ("1.31", "must have at most 5 bytes"),
        ("1.32", "may not be more than 5 bytes"),
        ("1.36", "may not be more than 5 bytes"),
    ],
)
def test_limits_of_bytes(release: str, text: str) -> None:
    with answering_as(release):
        assert fieldpath.too_long(PATH, 5).body == f"Too long: {text}"


@pytest.mark.parametrize(
    ("release", "text"),
    [("1.31", "may not be longer than 5"), ("1.32", "may not be more than 5 bytes")],
)
def test_bare_limits(release: str, text: str) -> None:
    with answering_as(release):
        assert fieldpath.too_long(PATH, 5, is_bare=True).body == f"Too long: {text}"


@pytest.mark.parametrize(
    ("release", "bytes_text", "items_text"),
    [("1.33", "1 bytes", "1 items"), ("1.34", "1 byte", "1 item")],
)
def test_one_is_told_from_many(release: str, bytes_text: str, items_text: str) -> None:
    with answering_as(release):
        assert fieldpath.too_long(PATH, 1).detail.endswith(bytes_text)
        assert fieldpath.too_many(PATH, 2, 1).detail.endswith(items_text)


@pytest.mark.parametrize(
    ("release", "unit", "subject"),
    [("1.34", "characters", "a qualified name"), ("1.35", "bytes", "a valid label key")],
)
def test_names_and_labels(release: str, unit: str, subject: str) -> None:
    with answering_as(release):
        assert name_rules.label_value(LONG) == [f"must be no more than 63 {unit}"]
        assert name_rules.qualified_name(LONG) == [f"name part must be no more than 63 {unit}"]
        assert name_rules.qualified_name("a/b/c")[0].startswith(subject)
