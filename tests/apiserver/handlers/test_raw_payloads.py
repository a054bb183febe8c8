"""Payloads that no server looks into: what is kept of how they are written, and when.

All rows are what kube-apiserver 1.36 answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from celadon.kube.well_known_values import JSON_PATCH, MERGE_PATCH
from tests.apiserver.asking import ask, read, said
from tests.apiserver.in_process import Running

REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"
CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
ODD = '{"b": 1, "a" : [1.0, 1e3, 100000000000000000000000, -0, 0.10], "b":"<\\u0041"}'
COMPACT = '{"b":1,"a":[1.0,1e3,100000000000000000000000,-0,0.10],"b":"\\u003c\\u0041"}'
AS_A_MAP = '{"a":[1,1000,1e+23,0,0.1],"b":"\\u003cA"}'


def revision(data: str, meta: str = "") -> bytes:
    head = f'{{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{{"name":"r"{meta}}}'
    return f'{head},"revision":1,"data":{data}}}'.encode()


def device_class(parameters: str) -> bytes:
    opaque = f'{{"opaque":{{"driver":"d.example.com","parameters":{parameters}}}}}'
    head = '{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c"}'
    return f'{head},"spec":{{"config":[{opaque}]}}}}'.encode()


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    started = Running()
    yield started
    started.close()


@pytest.fixture
def revisions(running: Running) -> Running:
    ask(running, "DELETE", f"{REVISIONS}/r")
    assert ask(running, "POST", REVISIONS, revision(ODD)).code == 201
    return running


def payload(text: bytes) -> str:
    """The data of a revision, or the first parameters of a class, as they are written."""
    found = re.search(r'"(?:data|parameters)":(.*?)(?:,"revision"|\}\}\])', text.decode())
    return "" if found is None else found[1]


def test_the_text_is_given_back_without_its_blanks(revisions: Running) -> None:
    assert payload(ask(revisions, "GET", f"{REVISIONS}/r").body) == COMPACT
    assert payload(ask(revisions, "GET", REVISIONS).body) == COMPACT
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    whole = ask(revisions, "GET", f"{REVISIONS}?includeObject=Object", accept=table)
    assert payload(whole.body) == COMPACT
    pretty = ask(revisions, "GET", f"{REVISIONS}/r?pretty=true").body.decode()
    assert '  "data": {\n    "b": 1,\n    "a": [\n      1.0,\n' in pretty


def test_protobuf_has_the_text_as_it_is(revisions: Running) -> None:
    message = "application/vnd.kubernetes.protobuf"
    body = ask(revisions, "GET", f"{REVISIONS}/r", accept=message).body
    assert ODD.encode() in body
    again = ask(revisions, "PUT", f"{REVISIONS}/r", body, content_type=message)
    assert (again.code, payload(again.body)) == (200, COMPACT)


UPDATES = [
    (ODD, None),
    (ODD.replace(" ", ""), COMPACT),
    (AS_A_MAP, AS_A_MAP),
    (ODD.replace("1.0", "1"), COMPACT.replace("1.0", "1")),
]


@pytest.mark.parametrize(("data", "refused"), UPDATES, ids=[data for data, _ in UPDATES])
def test_what_is_another_text_is_other_data(
    revisions: Running, data: str, refused: str | None
) -> None:
    answer = said(ask(revisions, "PUT", f"{REVISIONS}/r", revision(data)))
    assert answer[0] == (422 if refused else 200)
    if refused:
        assert answer[1].endswith(f"data: Invalid value: {refused}: field is immutable")


PATCHES = [
    (JSON_PATCH, "[]", COMPACT),
    (JSON_PATCH, '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]', COMPACT),
    (MERGE_PATCH, "{}", COMPACT),
    (STRATEGIC, "{}", AS_A_MAP),
    (STRATEGIC, '{"metadata":{"labels":{"a":"b"}}}', AS_A_MAP),
]


@pytest.mark.parametrize(("content_type", "patch", "refused"), PATCHES)
def test_patches_write_the_text_anew(
    revisions: Running, content_type: str, patch: str, refused: str
) -> None:
    path = f"{REVISIONS}/r"
    answer = said(ask(revisions, "PATCH", path, patch.encode(), content_type=content_type))
    assert answer[0] == 422
    assert answer[1].endswith(f"data: Invalid value: {refused}: field is immutable")


def test_an_apply_compares_values(revisions: Running) -> None:
    path, data = f"{REVISIONS}/r?fieldManager=m&force=true", AS_A_MAP
    answer = ask(revisions, "PATCH", path, revision(data), content_type=APPLY)
    assert (answer.code, payload(answer.body)) == (200, COMPACT)
    labelled = revision(data, ',"labels":{"a":"b"}')
    answer = ask(revisions, "PATCH", path, labelled, content_type=APPLY)
    assert said(answer)[1].endswith(f"data: Invalid value: {AS_A_MAP}: field is immutable")


STEPS: list[tuple[str, str, str, int, str]] = [
    ("PUT", "", '{"b": 1, "a": [1.0, "<x>"]}', 1, '{"b":1,"a":[1.0,"\\u003cx\\u003e"]}'),
    ("PUT", "", '{"b":1,"a":[1.0,"<x>"]}', 2, '{"b":1,"a":[1.0,"\\u003cx\\u003e"]}'),
    ("PUT", "", '{"a":[1.0,"<x>"],"b":1}', 3, '{"a":[1.0,"\\u003cx\\u003e"],"b":1}'),
    (
        *("PATCH", MERGE_PATCH, '{"metadata":{"labels":{"a":"b"}}}', 4),
        '{"a":[1.0,"\\u003cx\\u003e"],"b":1}',
    ),
    (
        *("PATCH", MERGE_PATCH, '{"metadata":{"labels":{"a":"c"}}}', 4),
        '{"a":[1.0,"\\u003cx\\u003e"],"b":1}',
    ),
    (
        "PATCH",
        JSON_PATCH,
        '[{"op":"add","path":"/spec/config/0/opaque/parameters/zz","value":{"y":1.00,"x":"\\u0041"}}]',
        5,
        '{"a":[1.0,"\\u003cx\\u003e"],"b":1,"zz":{"y":1.00,"x":"\\u0041"}}',
    ),
    (
        *("PATCH", JSON_PATCH),
        '[{"op":"replace","path":"/spec/config/0/opaque/parameters","value":{"q":1.0, "a":2}}]',
        *(6, '{"q":1.0,"a":2}'),
    ),
    (
        *("PATCH", JSON_PATCH),
        '[{"op":"test","path":"/spec/config/0/opaque/parameters","value":{"a":2,"q":1.0}}]',
        *(7, '{"a":2,"q":1.0}'),
    ),
    ("PATCH", STRATEGIC, '{"metadata":{"labels":{"a":"d"}}}', 8, '{"a":2,"q":1}'),
    ("PATCH", APPLY, '{"q":1.0, "a":2}', 8, '{"a":2,"q":1}'),
    ("PATCH", APPLY, '{"q":1.0, "a":2, "f":0.00001}', 9, '{"a":2,"f":0.00001,"q":1}'),
]


def test_each_other_text_is_another_generation(running: Running) -> None:
    """Step by step."""
    ask(running, "DELETE", f"{CLASSES}/c")
    first = STEPS[0][2]
    assert ask(running, "POST", CLASSES, device_class(first)).code == 201
    for method, content_type, sent, generation, shown in STEPS:
        body = device_class(sent) if content_type in ("", APPLY) else sent.encode()
        path = f"{CLASSES}/c{'?fieldManager=m&force=true' if content_type == APPLY else ''}"
        kind = content_type or "application/json"
        answer = ask(running, method, path, body, content_type=kind)
        found = read(answer).get("metadata", {}).get("generation"), payload(answer.body)
        assert found == (generation, shown), sent


def test_who_writes_another_text_into_an_atomic_list_owns_it(running: Running) -> None:
    ask(running, "DELETE", f"{CLASSES}/c")
    ask(running, "POST", f"{CLASSES}?fieldManager=one", device_class('{"a": 1}'))
    same = ask(running, "PUT", f"{CLASSES}/c?fieldManager=two", device_class('{"a": 1}'))
    other = ask(running, "PUT", f"{CLASSES}/c?fieldManager=two", device_class('{"a":1}'))
    managers = [
        [entry["manager"] for entry in json.loads(answer.body)["metadata"]["managedFields"]]
        for answer in (same, other)
    ]
    assert managers == [["one"], ["two"]]


def test_blanks_count_where_length_does(running: Running) -> None:
    ask(running, "DELETE", f"{CLASSES}/c")
    long = '{"a":1' + " " * 10_240 + "}"
    code, text = said(ask(running, "POST", CLASSES, device_class(long)))
    assert (code, text.rpartition(": ")[2]) == (422, "may not be more than 10240 bytes")
