"""Bytes of JSON: the same as `json.dumps` gives, whoever writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver.http_messages import json_bytes, read_stored, sorted_json_bytes, stored_bytes
from celadon.kube.go import go_json, json_text, read_json

TEXTS = st.text() | st.text('<>&\u2028\u2029\\"\n\x00\x7f\ud800')
SCALARS = st.none() | st.booleans() | st.integers() | TEXTS
VALUES = st.recursive(SCALARS, lambda one: st.lists(one) | st.dictionaries(TEXTS, one))
OBJECTS = st.dictionaries(TEXTS, VALUES).map(lambda value: {**value, "kind": "ConfigMap"})


@given(OBJECTS)
def test_clients_get_what_go_writes(obj: dict[str, Any]) -> None:
    assert json_bytes(obj) == json_text(obj).encode("utf-8", "replace")


@given(OBJECTS)
def test_what_is_stored_comes_back(obj: dict[str, Any]) -> None:
    written = stored_bytes(obj, custom=False)
    assert read_stored(written) == obj
    assert read_stored(stored_bytes(obj, custom=True)) == obj
    plain = json.dumps(obj, ensure_ascii=False, separators=(",", ":"))
    assert written == plain.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("kind", ["ControllerRevision", "ControllerRevisionList", "Table", 7])
def test_where_any_number_may_stand_clients_get_them_as_go_writes_them(kind: Any) -> None:
    obj = {"kind": kind, "data": {"n": 1e16}}
    assert b'"n":10000000000000000}' in json_bytes(obj)
    assert b'"n":1e+16' in stored_bytes(obj, custom=False)


@pytest.mark.parametrize(
    "number", ["1e400", "-0", "1.0", "1e16", "1E5", "5e-324", "-9223372036854775809", "1" * 40]
)
def test_numbers_are_read_as_python_reads_them(number: str) -> None:
    found, wanted = read_stored(b'{"n":%b}' % number.encode())["n"], json.loads(number)
    assert (found, type(found)) == (wanted, type(wanted))


def test_a_custom_resource_may_be_called_anything() -> None:
    obj = {"kind": "ConfigMap", "b": 1e16, "a": "<"}
    assert stored_bytes(obj, custom=True) == b'{"a":"<","b":1e+16,"kind":"ConfigMap"}'
    assert sorted_json_bytes(obj) == b'{"a":"\\u003c","b":10000000000000000,"kind":"ConfigMap"}'


def test_numbers_kept_as_texts_are_written() -> None:
    obj = {"kind": "ConfigMap", "n": read_json("1e3").value}
    assert json_bytes(obj) == json_text(obj).encode()


def test_raw_json_is_read_back_as_it_was() -> None:
    text = '{ "b":1.0, "a":"<\\u0041", "b":2}'
    kind = {"kind": "ControllerRevision", "apiVersion": "apps/v1"}
    stored = stored_bytes({**kind, "data": go_json.read_raw(text)}, custom=False)
    assert text.encode() in stored
    assert read_stored(stored)["data"].text == text
    shown = json_bytes(read_stored(stored))
    assert shown.endswith(b'"data":{"b":1.0,"a":"\\u003c\\u0041","b":2}}')
