"""The body of a request in YAML: its value, keys that come twice, Go's words for what is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from celadon.goyaml import UnreadableError, YamlDocument, first_document
from celadon.goyaml.yaml_events import EventReader
from celadon.goyaml.yaml_scalars import NotQuick

VALUES = [
    (b"", None),
    (b"# nothing\n", None),
    (b"hello", "hello"),
    (b"- a\n- b\n", ["a", "b"]),
    (b"{bad}", {"bad": None}),
    (
        b"a: yes\nb: 0x1f\nc: 1e3\nd: 2024-01-02\ne: .5\n",
        {"a": True, "b": 31, "c": 1000, "d": "2024-01-02", "e": 0.5},
    ),
    (b"1: a\ntrue: b\n1.5: c\n", {"1": "a", "true": "b", "1.5": "c"}),
    (b"1e3: a\n1e6: b\n-0.0: c\n", {"1000": "a", "1e+06": "b", "-0": "c"}),
    (b"16777217.0: a\n1e-7: b\n0.1: c\n", {"1.6777216e+07": "a", "1e-07": "b", "0.1": "c"}),
    (b"3.5e38: a\n-.Inf: b\n.NaN: c\n", {".inf": "a", "-.inf": "b", ".nan": "c"}),
    (b"a: 1\n---\nb: [\n", {"a": 1}),
    (b"a: 1\n...\n%x: [", {"a": 1}),
    (b"\xef\xbb\xbfa: 1\n", {"a": 1}),
    ("a: ü".encode("utf-16"), {"a": "ü"}),
    (b'{"a": 1.0, "b": 1e2, "c": "\\u00fc"}', {"a": 1, "b": 100, "c": "ü"}),
    (b'a: "x\\\'y"\n', {"a": "x'y"}),
    (b'a: "x\\\\/y"\nb: x\\/y\nc: "a/b"\n', {"a": "x\\/y", "b": "x\\/y", "c": "a/b"}),
    (b"base: &b {v: 1}\nmade:\n  <<: *b\n  z: 3\n", {"base": {"v": 1}, "made": {"v": 1, "z": 3}}),
]


@pytest.mark.parametrize(("data", "value"), VALUES)
def test_the_first_document_counts(data: bytes, value: Any) -> None:
    assert first_document(data) == YamlDocument(value)


REPEATED = [
    (b"a: 1\na: 2\n", {"a": 2}, ['line 2: key "a" already set in map']),
    (b'{"data": 1,\n "data":\n 2}', {"data": 2}, ['line 3: key "data" already set in map']),
    (
        b"s:\n  k: 1\n  k: 2\n  k: 3\ns: 4\n",
        {"s": 4},
        [
            'line 3: key "k" already set in map',
            'line 4: key "k" already set in map',
            'line 5: key "s" already set in map',
        ],
    ),
    (b"1: a\n1: b\n", {"1": "b"}, ["line 2: key 1 already set in map"]),
    (b"on: a\nyes: b\n", {"true": "b"}, ["line 2: key true already set in map"]),
    (b"a:\na:\n", {"a": None}, ['line 2: key "a" already set in map']),
    (
        b"b: &b\n  x: 1\nm:\n  <<: *b\n  x: 2\nc:\n  x: 3\n  <<: [*b]\n",
        {"b": {"x": 1}, "m": {"x": 2}, "c": {"x": 1}},
        ['line 5: key "x" already set in map', 'line 2: key "x" already set in map'],
    ),
]


@pytest.mark.parametrize(("data", "value", "complaints"), REPEATED)
def test_keys_that_come_twice(data: bytes, value: Any, complaints: list[str]) -> None:
    document = first_document(data)
    assert document == YamlDocument(value, tuple(complaints))
    lines = "\n  ".join(complaints)
    assert document.strict_error() == f"yaml: unmarshal errors:\n  {lines}"


def test_without_repetition_there_is_no_strict_error() -> None:
    assert first_document(b"a: 1").strict_error() == ""


FAULTS = [
    (b"a: [", "yaml: line 1: did not find expected node content"),
    (b"{", "yaml: line 1: did not find expected node content"),
    (b"\tx: 1", "yaml: found character that cannot start any token"),
    (b"a:\n\tx: 1", "yaml: line 2: found character that cannot start any token"),
    (b"a: 1\n b: 2\n", "yaml: line 2: mapping values are not allowed in this context"),
    (b"a: 'x", "yaml: found unexpected end of stream"),
    (b"a: b: c", "yaml: mapping values are not allowed in this context"),
    (b"a: 1\n- b\n", "yaml: line 1: did not find expected key"),
    (b'a: 1\nb: "x\\/y"\n', "yaml: line 2: found unknown escape character"),
    (b'{"a": "\\/"}', "yaml: found unknown escape character"),
    (b'\xef\xbb\xbfa: "\\/"\n', "yaml: found unknown escape character"),
    (b'a: "\\\'\\ud800"\n', "yaml: found invalid Unicode character escape code"),
    (b'a: "\\\'\\Uffffffff"\n', "yaml: found invalid Unicode character escape code"),
    (b"a: *x\n", "yaml: unknown anchor 'x' referenced"),
    (b"a: *x\nb: [\n", "yaml: unknown anchor 'x' referenced"),
    (b"~: 1\nb: *x\n", "yaml: unknown anchor 'x' referenced"),
    (b"a: &x [*x]\n", "yaml: anchor 'x' value contains itself"),
    (b"a: \x01\n", "yaml: control characters are not allowed"),
    (b"a: \xff\n", "yaml: invalid leading UTF-8 octet"),
    (b"<<: 1\n", "yaml: map merge requires map or sequence of maps as the value"),
    (b"? [a, 1]\n: x\n", 'yaml: invalid map key: []interface {}{"a", 1}'),
    (
        b"? {a: b}\n: x\n",
        'yaml: invalid map key: map[interface {}]interface {}{"a":"b"}',
    ),
    (b"a:\n  {}: b\n", "yaml: line 1: did not find expected key"),
    (b"a:\n  b: c\n{}", "yaml: line 2: did not find expected key"),
    (b"a:\n  b: c\nd", "yaml: line 4: could not find expected ':'"),
    (b"a:\n- []: b\n", "yaml: line 1: did not find expected key"),
    (b"a: [{}: b]\n", "yaml: did not find expected ',' or ']'"),
    (b"a: {b: c, []: d}\n", "yaml: did not find expected ',' or '}'"),
    (b"? {}\n: x\n", "yaml: invalid map key: map[interface {}]interface {}{}"),
    (b"{[]: x}: y\n", "yaml: invalid map key: []interface {}{}"),
    (
        b"~: [b, 1]\n",
        'unsupported map key of type: %!s(<nil>), key: <nil>, value: []interface {}{"b", 1}',
    ),
    (b"a: .nan\n", "json: unsupported value: NaN"),
    (b"a: -.inf\n", "json: unsupported value: -Inf"),
    (b"a: !!int x\n", "yaml: cannot decode !!str `x` as a !!int"),
    (b"a: !!binary '?'\n", "yaml: !!binary value contains invalid base64 data"),
    (b"a: !!int x\nb: [\n", "yaml: line 2: did not find expected node content"),
    (b'{"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "yaml: exceeded max depth of 10000"),
    (b"[" * 10_001, "yaml: exceeded max depth of 10000"),
    (b"a: 1\nb:\n  " + b"{a: " * 10_001, "yaml: line 3: exceeded max depth of 10000"),
    (b"- " * 10_001 + b"1", "yaml: exceeded max depth of 10000"),
    (b"? " * 10_001 + b"1", "yaml: exceeded max depth of 10000"),
    # what is wrong before is found later, by those who parse before they decode
    (b"null: 1\nb: " + b"[" * 10_001, "yaml: line 2: exceeded max depth of 10000"),
    # flow and block are counted apart; what comes of both is JSON, with a limit of its own
    (b"[" * 10_000, "yaml: did not find expected node content"),
]


@pytest.mark.parametrize(("data", "text"), FAULTS)
def test_what_cannot_be_read_is_refused_in_the_words_of_go(data: bytes, text: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        first_document(data)
    assert caught.value.upstream == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('ab":{}\t ü\n', max_size=8), inner),
    max_leaves=15,
)


@given(st.dictionaries(st.text("ab#: -"), JSON), st.sampled_from([None, 0, 2]), st.booleans())
def test_json_means_the_same_read_as_json_or_as_yaml(
    value: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    try:
        (_, slow), *_ = list(EventReader(data, []).documents())
    except (yaml.YAMLError, UnreadableError):
        with pytest.raises(UnreadableError):
            first_document(data)
    else:
        assert json.dumps(first_document(data).value) == json.dumps(slow)


NESTED = [
    (b"[", b"1", b"]"),
    (b"{a: ", b"1", b"}"),
    (b"{a: ", b"", b"}"),
    (b'["x", {"a": ', b"null", b"}]"),
    (b"[a: ", b"1", b"]"),
    (b"[\n", b"1", b"]"),
    (b"- ", b"1", b""),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("opened", "inner", "closed"), NESTED)
@pytest.mark.parametrize("times", [100, 600, 2_000])
def test_nesting_takes_no_recursion(opened: bytes, inner: bytes, closed: bytes, times: int) -> None:
    """Less than Python's own limit of calls is needed for any depth, by either parser."""
    value = first_document(opened * times + inner + closed * times).value
    again = first_document(opened + inner + closed).value
    depth, expected = 0, 0
    while value and isinstance(value, dict | list):
        value, depth = (value["a"] if isinstance(value, dict) else value[-1]), depth + 1
    while again and isinstance(again, dict | list):
        again, expected = (again["a"] if isinstance(again, dict) else again[-1]), expected + 1
    assert (value, depth) == (again, expected * times)


def test_the_deepest_that_go_reads() -> None:
    for data in (b"[" * 10_000 + b"]" * 10_000, b"- " * 10_000):
        assert first_document(data).value


@pytest.mark.parametrize("opened", [b"[", b"{a: ", b"[{a: "])
def test_the_parser_in_c_is_not_given_many_open_brackets(opened: bytes) -> None:
    """Each of its steps takes longer, the more are open, and no test sees that work: what is held
    is how many there may be."""
    if yaml.__with_libyaml__:
        with pytest.raises(NotQuick):
            list(EventReader(opened * 1_000, []).documents())


SHAPES: dict[str, Callable[[int], bytes]] = {
    "lists": lambda n: b"a: " + b"[" * n + b"]" * n,
    "lists on lines": lambda n: b"a: " + b"[\n" * n + b"]" * n,
    "maps": lambda n: b"{a: " * n + b"}" * n,
    "items in deep lists": lambda n: b"[" * 600 + b"1," * n + b"]" * 600,
    "dashes": lambda n: b"- " * n,
    "question marks": lambda n: b"? " * n,
    "tag directives": lambda n: b"".join(b"%%TAG !%d! a\n" % at for at in range(n)) + b"--- 1",
}


@pytest.mark.thorough
@pytest.mark.parametrize("shape", SHAPES)
def test_calls_grow_with_the_length_and_no_faster(shape: str) -> None:
    def calls(times: int) -> int:
        made = 0

        def count(_: FrameType, event: str, __: object) -> None:
            nonlocal made
            made += event in ("call", "c_call")

        data = SHAPES[shape](times)
        sys.setprofile(count)
        try:
            first_document(data)
        except UnreadableError:
            pass
        finally:
            sys.setprofile(None)
        return made

    few, many = calls(1_400), calls(2_800)  # both beyond what libyaml reads
    assert many < 2.2 * few
