"""What is written as YAML, beside what sigs.k8s.io/yaml writes; and that it reads back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.goyaml import first_document, yaml_text
from celadon.goyaml.yaml_documents import go_float

TEXTS = [
    ("", '""'),
    ("x", "x"),
    ("*", "'*'"),
    ("a: b", "'a: b'"),
    ("=", "="),
    ("<<", "<<"),
    ("yes", '"yes"'),
    ("y", '"y"'),
    ("null", '"null"'),
    ("~", '"~"'),
    ("1", '"1"'),
    ("0x1f", '"0x1f"'),
    ("0o17", '"0o17"'),
    ("1_000", '"1_000"'),
    ("1e3", '"1e3"'),
    (".5", '".5"'),
    (".inf", '".inf"'),
    ("1:30", '"1:30"'),
    ("1.2.3", "1.2.3"),
    ("v1", "v1"),
    ("2024-01-02", '"2024-01-02"'),
    ("2024-13-02", "2024-13-02"),
    ("2024-01-02T03:04:05Z", '"2024-01-02T03:04:05Z"'),
    ("2024-01-02T03:04:05.678+02:00", '"2024-01-02T03:04:05.678+02:00"'),
    ("2024-1-2 3:4:5", '"2024-1-2 3:4:5"'),
    ("2001-12-14 21:59:43.10 -5", "2001-12-14 21:59:43.10 -5"),
    ("line one\nline two\n", "|\n  line one\n  line two"),
    ("no end\nhere", "|-\n  no end\n  here"),
    ("größer –", "größer –"),
    ("🚫", '"\\U0001F6AB"'),
    ("a\tb", '"a\\tb"'),
]


@pytest.mark.parametrize(("text", "written"), TEXTS)
def test_texts(text: str, written: str) -> None:
    assert yaml_text({"k": text}) == f"k: {written}\n"


def test_long_texts_are_folded() -> None:
    message = (
        'validatingwebhookconfigurations.admissionregistration.k8s.io "api-accept-yamlx" not found'
    )
    folded = (
        'validatingwebhookconfigurations.admissionregistration.k8s.io "api-accept-yamlx"\n'
        "  not found\n"
    )
    assert yaml_text({"message": message}) == f"message: {folded}"


def test_containers() -> None:
    value: dict[str, Any] = {
        "b": [{"x": 1, "a": []}, [1, "a"]],
        "a": {},
        "c": None,
        "d": True,
        "e": 2**64,
    }
    assert yaml_text(value) == (
        "a: {}\nb:\n- a: []\n  x: 1\n- - 1\n  - a\nc: null\nd: true\ne: 18446744073709551616\n"
    )


def test_a_text_with_empty_lines_at_its_end_is_no_end_of_the_document() -> None:
    assert yaml_text({"a": "x\n\n"}) == "a: |+\n  x\n\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (".", "f:a"),
        ("A", "a"),
        ("a-b", "ab"),
        ("a2", "a10"),
        ("a", "ab"),
        ("1", "a"),
        ("x-1", "xa"),
        ("a1", "a01"),
        ("k100", "k110"),
        (f"k1{'0' * 5000}", f"k2{'0' * 5000}"),
        (f"k{2**63}", "k1"),
    ],
)
def test_members_are_in_the_order_of_go(first: str, second: str) -> None:
    for members in ({second: 1, first: 1}, {first: 1, second: 1}):
        assert [line[0] for line in _keys(members)] == [first, second]


def _keys(value: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(first_document(yaml_text(value).encode()).value.items())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5"),
        (-0.25, "-0.25"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (123456.5, "123456.5"),
        (1234567.5, "1.2345675e+06"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.0, "0"),
        (100000.0, "100000"),
    ],
)
def test_floats(value: float, text: str) -> None:
    assert go_float(value) == text
    assert yaml_text({"f": value}) == f"f: {text}\n"


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: value % 1 != 0),
    st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    st.sampled_from([text for text, _ in TEXTS]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab-.:0 1"), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text("abc/ .:-0123", max_size=40), VALUES))
def test_what_is_written_reads_back(value: dict[str, Any]) -> None:
    assert first_document(yaml_text(value).encode()).value == value
