"""What is said against Events, by both their names."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
TIME = "2024-01-01T00:00:00.000000Z"


def core_event(**fields: Any) -> Json:
    return obj("v1", "Event", involvedObject={"namespace": "default"}, **fields)


def event(**fields: Any) -> Json:
    found = {
        "eventTime": TIME, "type": "Normal", "reason": "r", "action": "a", "note": "n",
        "reportingController": "c", "reportingInstance": "i",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"}, **fields,
    }  # fmt: skip
    return obj("events.k8s.io/v1", "Event", **found)


GOOD = [
    core_event(),
    core_event(
        eventTime=TIME, reportingComponent="c", reportingInstance="i", action="a", reason="r"
    ),
    event(),
    event(series={"count": 2, "lastObservedTime": TIME}),
]  # fmt: skip


@pytest.mark.parametrize("value", GOOD)
def test_good_events(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {**core_event(), "involvedObject": {"namespace": "x"}},
            ['involvedObject.namespace: Invalid value: "x": does not match event.namespace'],
        ),
        (
            core_event(eventTime=TIME, reason="x" * 129, message="x" * 1025, action="a"),
            [
                "reportingComponent: Required value",
                'reportingComponent: Invalid value: "": name part must be non-empty',
                'reportingComponent: Invalid value: "": name part must consist of alphanumeric '
                "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
                "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                "reportingInstance: Required value",
                'reason: Invalid value: "": can have at most 128 characters',
                'message: Invalid value: "": can have at most 1024 characters',
            ],
        ),
        (
            event(
                eventTime=None, type="x", deprecatedCount=1, deprecatedFirstTimestamp=TIME,
                deprecatedLastTimestamp=TIME, deprecatedSource={"host": "h"},
                series={"count": 1},
            ),
            [
                'series.count: Invalid value: "": should be at least 2',
                "series.lastObservedTime: Required value",
                "eventTime: Required value",
                'type: Invalid value: "": has invalid value: x',
                'firstTimestamp: Invalid value: "": needs to be unset',
                'lastTimestamp: Invalid value: "": needs to be unset',
                'count: Invalid value: "": needs to be unset',
                'source: Invalid value: "": needs to be unset',
            ],
        ),
    ],
)  # fmt: skip
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


@pytest.mark.parametrize(
    ("value", "old", "expected"),
    [
        (core_event(reason="b"), core_event(reason="a"), []),
        (
            event(reason="b", note="m", related={"name": "x"}),
            event(),
            [
                'reason: Invalid value: "b": field is immutable',
                'message: Invalid value: "m": field is immutable',
                'related: Invalid value: {"Kind":"","Namespace":"","Name":"x","UID":"",'
                '"APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
            ],
        ),
        (
            event(related={}),
            event(),
            [
                'related: Invalid value: {"Kind":"","Namespace":"","Name":"","UID":"",'
                '"APIVersion":"","ResourceVersion":"","FieldPath":""}: field is immutable',
            ],
        ),
        (
            event(series={"count": 1, "lastObservedTime": TIME}, deprecatedSource={"host": "h"}),
            event(),
            [
                'series.count: Invalid value: "": should be at least 2',
                'source: Invalid value: {"Component":"","Host":"h"}: field is immutable',
            ],
        ),
    ],
)
def test_changes(value: Json, old: Json, expected: list[str]) -> None:
    assert update_complaints(value, old) == expected


@pytest.mark.parametrize(
    ("change", "of_go", "of_json"),
    [
        (
            {"deprecatedSource": {"host": "h"}},
            'source: Invalid value: core.EventSource{Component:"", Host:"h"}: ',
            'source: Invalid value: {"Component":"","Host":"h"}: ',
        ),
        (
            {"deprecatedSource": None},
            'source: Invalid value: core.EventSource{Component:"", Host:""}: ',
            'source: Invalid value: {"Component":"","Host":""}: ',
        ),
        (
            {"related": {"name": "x"}},
            'related: Invalid value: core.ObjectReference{Kind:"", Namespace:"", Name:"x", UID:"", '
            'APIVersion:"", ResourceVersion:"", FieldPath:""}: ',
            'related: Invalid value: {"Kind":"","Namespace":"","Name":"x","UID":"",'
            '"APIVersion":"","ResourceVersion":"","FieldPath":""}: ',
        ),
        (
            {"eventTime": "2025-01-01T00:00:00.120000Z"},
            "eventTime: Invalid value: 2025-01-01 00:00:00.12 +0000 UTC: ",
            'eventTime: Invalid value: "2025-01-01T00:00:00.120000Z": ',
        ),
        (
            {"deprecatedFirstTimestamp": None},
            "firstTimestamp: Invalid value: 0001-01-01 00:00:00 +0000 UTC: ",
            "firstTimestamp: Invalid value: null: ",
        ),
        (
            {"deprecatedLastTimestamp": None},
            "lastTimestamp: Invalid value: 0001-01-01 00:00:00 +0000 UTC: ",
            "lastTimestamp: Invalid value: null: ",
        ),
    ],
)
def test_values_that_may_not_change(change: Json, of_go: str, of_json: str) -> None:
    """As kube-apiserver 1.33 and 1.36 show them."""
    times = dict.fromkeys(("deprecatedFirstTimestamp", "deprecatedLastTimestamp"), TIME[:19] + "Z")
    old = event(deprecatedSource={"component": "c"}, **times)
    for release, shown in (("1.33", of_go), ("1.34", of_json)):
        with answering_as(release):
            found = update_complaints({**old, **change}, old)
        assert f"{shown}field is immutable" in found


def test_finalizers_have_a_domain() -> None:
    marked = event()
    marked["metadata"] = {**marked["metadata"], "finalizers": ["a"]}
    why = (
        'metadata.finalizers[0]: Invalid value: "a": name is neither a standard finalizer name '
        "nor is it fully qualified"
    )
    assert complaints(marked) == [why]
    assert update_complaints(marked, event()) == [why]
