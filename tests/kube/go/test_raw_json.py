"""JSON that is kept as it was sent: found in a text, compared by it, written with it."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any

import pytest

from celadon.kube.go.go_json import (
    RawJson,
    RawWays,
    indented,
    json_with_raw,
    keep_raw,
    raw_json,
    read_json,
    read_raw,
    shown_raw,
    with_raw,
)
from celadon.kube.go.go_text import json_text

WAYS: RawWays = {"data": {}, "spec": {"config": {"parameters": {}}}}


def kept(text: str) -> Any:
    """The object in a text, with its raw JSON."""
    obj = read_json(text, merge=True).value
    keep_raw(obj, text, WAYS)
    return obj


TEXTS = [
    ('{"data": {"b" : 1, "a":2} , "z":{"data":{ }}}', [("data",)], '{"b" : 1, "a":2}'),
    ('{"z":["}",{"a":"]"}],"data":{"a":"\\"}"}}', [("data",)], '{"a":"\\"}"}'),
    ('{"\\u0064ata":{"a": 1}}', [("data",)], '{"a": 1}'),
    ('{"data":{"a": 1},"data":{"b": 2}}', [("data",)], '{"b": 2}'),
    ('{"data":{"a": 1},"data":null}', [("data",)], '{"a": 1}'),
    ('{"spec":{"config":[{}, {"parameters" :{ }}]}}', [("spec", "config", 1, "parameters")], "{ }"),
    ('{"spec":{"config":[{"parameters":[1]}]}}', [], None),
    ('{"spec":{"config":{"parameters":{ }}}}', [("spec", "config", "parameters")], "{ }"),
    ('{"spec":[7,"x"],"data":"{"}', [], None),
    (' \n{ "data" : { } }', [("data",)], "{ }"),
]


@pytest.mark.parametrize(("text", "places", "raw"), TEXTS, ids=[text for text, _, _ in TEXTS])
def test_where_raw_json_is_found(text: str, places: list[Any], raw: str | None) -> None:
    obj = kept(text)
    found: list[str] = []
    with_raw(obj, WAYS, lambda raw_value: found.append(raw_value.text))
    assert found == ([] if raw is None else [raw])
    for place in places:
        value = obj
        for step in place:
            value = value[step]
        assert value == read_json(raw or "").value
        assert isinstance(value, RawJson)


def test_a_list_that_is_given_twice_may_be_shorter() -> None:
    items = '{"parameters":{"a": 1}}'
    obj = kept(f'{{"spec":{{"config":[{items},{items}]}},"spec":{{"config":[{{}}]}}}}')
    assert len(obj["spec"]["config"]) == 1


def test_raw_json_is_compared_by_its_text() -> None:
    one, other = read_raw('{"a":1,"b":2}'), read_raw('{"b":2,"a":1}')
    assert one == read_raw('{"a":1,"b":2}')
    assert one != other
    assert {"x": [one]} != {"x": [other]}
    assert dict(one) == dict(other) == one == {"b": 2, "a": 1}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1.0, "a": [{"d": 1, "c": 2}]}, '{"a":[{"c":2,"d":1}],"b":1}'),
        ({"a": "<"}, '{"a":"\\u003c"}'),
        ({"a": 1e-5, "b": 1e-7, "c": 1e25, "d": "1e-07"}, None),
    ],
)
def test_what_is_made_of_values_is_written_as_go_writes_maps(value: Any, text: str | None) -> None:
    text = text or '{"a":0.00001,"b":1e-7,"c":1e+25,"d":"1e-07"}'
    assert raw_json(value).text == text
    assert raw_json(raw_json(value)).text == text


def test_values_that_are_no_objects_stay_what_they_are() -> None:
    assert raw_json([1.0]) == [1.0]
    assert read_raw("[1 ]") == [1]
    assert raw_json(None) is None


def test_clients_get_raw_json_without_blanks() -> None:
    raw = read_raw('{ "a b" : 1.0,\n\t"c":"<\\u0041 \u2028"}')
    assert shown_raw(raw) == '{"a b":1.0,"c":"\\u003c\\u0041 \\u2028"}'
    obj = {"x": "<", "y": [1, {"raw": raw}], "z": {"a": []}}
    shown = '{"x":"\\u003c","y":[1,{"raw":' + shown_raw(raw) + '}],"z":{"a":[]}}'
    assert json_with_raw(obj) == shown
    assert json_with_raw({"a": [1, "x"]}) == json_text({"a": [1, "x"]})
    verbatim = json_with_raw(obj, attrgetter("text"))
    assert read_json(verbatim).value["y"][1]["raw"] == raw
    assert raw.text in verbatim


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{}", "{}"),
        ('{"a":[],"b":{"c":[1,"x,{:"]}}', None),
        ('[1.0,true,null,{"a":"\\""}]', None),
    ],
)
def test_json_with_indents(text: str, shown: str | None) -> None:
    assert indented(text) == (shown or json.dumps(json.loads(text), indent=2))
