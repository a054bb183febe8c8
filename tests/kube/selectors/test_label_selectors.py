"""Label and field selectors: matching, printing, parsing, and the texts of refusals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import selectors
from celadon.kube.releases import answering_as
from celadon.kube.selectors import (
    NOTHING,
    FieldSelector,
    FieldTerm,
    LabelSelector,
    Operator,
    SelectorError,
    conditions_of,
    conjunction,
    label_selector,
    parse_field_selector,
    parse_label_selector,
)

NAME_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize(
    ("text", "labels", "want"),
    [
        ("", {}, True),
        ("a", {"a": ""}, True),
        ("a", {}, False),
        ("!a", {}, True),
        ("a=b", {"a": "b"}, True),
        ("a==b", {"a": "c"}, False),
        ("a!=b", {}, True),
        ("a!=b", {"a": "b"}, False),
        ("a=", {"a": ""}, True),
        ("a=,b", {"a": "", "b": "1"}, True),
        ("a in (b,c)", {"a": "c"}, True),
        ("a in ()", {"a": ""}, True),
        ("a in (,b)", {"a": ""}, True),
        ("a in (b,)", {"a": ""}, True),
        ("a in (b,,c)", {"a": ""}, True),
        ("a notin (b)", {}, True),
        ("a notin (b)", {"a": "b"}, False),
        ("a>5", {"a": "6"}, True),
        ("a>5", {"a": "x"}, False),
        ("a<5", {"a": "6"}, False),
        ("a<5", {}, False),
        ("a>9223372036854775806", {"a": "9223372036854775808"}, False),
        (" a = b , c = d ", {"a": "b", "c": "d"}, True),
        ("in=notin", {"in": "notin"}, True),
        ("a\x00", {"a": ""}, True),
        ("\x00a", {}, True),
    ],
)
def test_text_matches(text: str, labels: dict[str, str], want: bool) -> None:
    assert parse_label_selector(text).matches(labels) is want


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("!!", "unable to parse requirement: found '!', expected: identifier"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("a=b,", "found '', expected: identifier after ','"),
        ("a=(", "unable to parse requirement: found '(', expected: identifier"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("-a=b", f'unable to parse requirement: <nil>: Invalid value: "-a": {NAME_RULE}'),
        (
            "a=-b",
            f'unable to parse requirement: values[0][a]: Invalid value: "-b": {VALUE_RULE}',
        ),
        (
            "a>b",
            "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' "
            "operators, the value must be an integer",
        ),
    ],
)
def test_text_refused(text: str, message: str) -> None:
    with pytest.raises(SelectorError) as error:
        parse_label_selector(text)
    assert str(error.value) == message


@given(st.text(alphabet="ab=!(),<> in\x00-", max_size=12))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        selector = parse_label_selector(text)
    except SelectorError:
        return
    assert parse_label_selector(str(selector)) == selector


KEYS = st.sampled_from("ab")
REQUIREMENTS: st.SearchStrategy[tuple[str, Operator, list[str]]] = st.one_of(
    st.tuples(
        KEYS,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.lists(st.sampled_from("123x"), min_size=1, max_size=3),
    ),
    st.tuples(
        KEYS,
        st.sampled_from([Operator.EQUALS, Operator.NOT_EQUALS]),
        st.lists(st.sampled_from("123x"), min_size=1, max_size=1),
    ),
    st.tuples(KEYS, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST]), st.just([])),
    st.tuples(
        KEYS,
        st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN]),
        st.lists(st.sampled_from("123"), min_size=1, max_size=1),
    ),
)


@given(
    st.lists(REQUIREMENTS, max_size=4),
    st.dictionaries(KEYS, st.sampled_from(["", *"123x"])),
    st.booleans(),
)
def test_conditions_by_keys_are_those_of_the_requirements(
    terms: list[tuple[str, Operator, list[str]]], labels: dict[str, str], nothing: bool
) -> None:
    selector = LabelSelector(tuple(selectors.requirement(*term) for term in terms), nothing)
    assert selector.conditions().matches(labels) is selector.matches(labels)


@given(
    st.lists(st.builds(FieldTerm, KEYS, st.sampled_from(["", "1", "2"]), st.booleans())),
    st.dictionaries(KEYS, st.sampled_from(["", "1", "2"])),
)
def test_conditions_by_fields_are_those_of_the_terms(
    terms: list[FieldTerm], fields: dict[str, str]
) -> None:
    selector = FieldSelector(tuple(terms))
    conditions = selector.conditions()
    values = {field: fields.get(field, "") for field in conditions.keys}
    assert conditions.matches(values) is selector.matches(fields)


@pytest.mark.parametrize(
    "term", ["a!={}", "a{}!=b", "!a{}", "a>{}", "a<{}", "a in (5,{})", "z{}=1"]
)
def test_many_terms_take_no_more_steps_than_few(term: str) -> None:
    def steps(times: int) -> int:
        made = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal made
            frame.f_trace_opcodes = True
            made += event == "opcode"
            return trace

        text = ",".join(term.format(number + 10) for number in range(times))
        conditions = parse_label_selector(text).conditions()
        sys.settrace(trace)
        try:
            conditions.matches({"a": "5", "b": "c"})
        finally:
            sys.settrace(None)
        return made

    assert steps(500) == steps(2)


WORDS = st.sampled_from(
    [*"ab=!(),<> \t\x00-.5", "in", "notin", "==", "!=", "a=b", "a in (b,c)", "x" * 70, "ä"]
)


@given(st.lists(WORDS, max_size=10).map("".join))
def test_what_is_read_at_once_is_what_the_parser_reads(text: str) -> None:
    def said(parse: Callable[[str], object]) -> object:
        try:
            return parse(text)
        except SelectorError as error:
            return str(error)

    whole = said(lambda given: conjunction(selectors._Parser(given).parse()))
    assert said(parse_label_selector) == whole


@pytest.mark.parametrize(
    "shape",
    [
        "a,",
        "a=b,",
        "!a,",
        "a in (b),",
        "a in (b,",
        "a in (b),c notin (",
        "(",
        ",",
        "=",
        "!",
        "a ",
        "\x00",
    ],
)
def test_calls_grow_with_the_length_and_no_faster(shape: str) -> None:
    def calls(times: int) -> int:
        made = 0

        def count(_: FrameType, event: str, __: object) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        text = shape * times
        sys.setprofile(count)
        try:
            parse_label_selector(text)
        except SelectorError:
            pass
        finally:
            sys.setprofile(None)
        return made

    calls(2)
    assert calls(800) <= 2 * calls(400) + 200


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (
            {
                "matchLabels": {"z": "1"},
                "matchExpressions": [
                    {"key": "b", "operator": "In", "values": ["y", "x"]},
                    {"key": "a", "operator": "NotIn", "values": ["q"]},
                    {"key": "d", "operator": "Exists"},
                    {"key": "c", "operator": "DoesNotExist", "values": None},
                ],
            },
            "a notin (q),b in (x,y),!c,d,z=1",
        ),
        ({"matchLabels": None}, ""),
    ],
)
def test_object_form(selector: dict[str, Any], text: str) -> None:
    assert str(label_selector(selector)) == text


@pytest.mark.parametrize(
    "labels", [{}, {"a": "x"}, {"a": "q", "b": "y"}, {"b": "x", "d": "", "z": "1"}]
)
@pytest.mark.parametrize(
    "selector",
    [
        None,
        {},
        {"matchLabels": {"z": "1"}},
        {"matchExpressions": [{"key": "b", "operator": "In", "values": ["y", "x"]}]},
        {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["q"]}]},
        {"matchExpressions": [{"key": "d", "operator": "Exists"}]},
        {"matchExpressions": [{"key": "a", "operator": "DoesNotExist", "values": None}]},
    ],
)
def test_conditions_of_what_is_stored(selector: Any, labels: dict[str, str]) -> None:
    conditions, parsed = conditions_of(selector), label_selector(selector)
    assert conditions.matches(labels) == parsed.matches(labels)
    assert conditions.is_everything == parsed.is_everything


def test_nil_selects_nothing_and_empty_everything() -> None:
    assert label_selector(None) == NOTHING
    assert not NOTHING.matches({})
    assert not NOTHING.is_everything
    assert label_selector({}) == LabelSelector()
    assert LabelSelector().is_everything
    assert LabelSelector().matches({"a": "b"})


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (
            {"matchExpressions": [{"key": "a", "operator": "Gt"}]},
            '"Gt" is not a valid label selector operator',
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In"}]},
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
            'values: Invalid value: ["b"]: values set must be empty for exists and does not exist',
        ),
        (
            {"matchLabels": {"-a": "-b"}},
            f'[key: Invalid value: "-a": {NAME_RULE}, values[0][-a]: Invalid value: "-b": '
            f"{VALUE_RULE}]",
        ),
    ],
)
def test_object_refused(selector: dict[str, Any], message: str) -> None:
    with pytest.raises(SelectorError) as error:
        label_selector(selector)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "fields", "want"),
    [
        ("", {}, True),
        ("metadata.name=a", {"metadata.name": "a"}, True),
        ("metadata.name==a,b!=c", {"metadata.name": "a", "b": "d"}, True),
        ("a=", {}, True),
        (r"a=\,\=\\", {"a": ",=\\"}, True),
        ("a!=b", {"a": "b"}, False),
    ],
)
def test_field_matches(text: str, fields: dict[str, str], want: bool) -> None:
    selector = parse_field_selector(text)
    assert selector.matches(fields) is want
    assert parse_field_selector(str(selector)) == selector


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b,a=1", "invalid selector: 'b,a=1'; can't understand 'b'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ("a=\\b", "invalid field selector: invalid escape sequence: \\b"),
        ("a=\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_field_refused(text: str, message: str) -> None:
    with pytest.raises(SelectorError) as error:
        parse_field_selector(text)
    assert str(error.value) == message


def test_field_selector_tools() -> None:
    selector = parse_field_selector("b=1,a!=2")
    assert selector.exact("b") == "1"
    assert selector.exact("a") is None
    assert selector.map_fields(str.upper).terms == (FieldTerm("A", "2", True), FieldTerm("B", "1"))


@pytest.mark.parametrize("text", ["a in (b,,)", "a in (,,)"])
def test_commas_before_the_end_of_a_list(text: str) -> None:
    """Older parsers go past the second comma without looking at what comes behind it."""
    assert parse_label_selector(text).matches({"a": ""})
    with answering_as("1.34"), pytest.raises(SelectorError, match=r"found '\)', expected: ','"):
        parse_label_selector(text)


@pytest.mark.parametrize("release", ["1.34", "1.36"])
@pytest.mark.parametrize("text", ["a in (b,,c)", "a in (b,,,c)", "a in (b,,,)"])
def test_commas_in_a_list(text: str, release: str) -> None:
    with answering_as(release):
        assert parse_label_selector(text).matches({"a": ""})
