"""One after the other, and again where something has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from celadon.admission.request import Operation, Request
from celadon.admission.webhooks import Call, NoReply, Reply
from celadon.admission.webhooks.dispatchers import CallRecord, MutatingPhase
from celadon.kube import GroupVersionKind, JsonObject, StatusError
from celadon.kube.releases import answering_as
from tests.admission.building import config_map, request
from tests.admission.webhooks.hooking import (
    REFUSED,
    WORLD,
    answer,
    as_json,
    hooks,
    new_uid,
    patch,
    webhook,
)

Answer = Callable[[Call], Reply | NoReply]


def readmit(document: Any, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:
    return document, document


def phase(*given: dict[str, Any], coarse: bool = False) -> MutatingPhase:
    found = hooks(*given, mutating=True)
    return MutatingPhase(found, WORLD, readmit, new_uid, as_json, coarse_times=coarse)


def played(
    made: MutatingPhase, answers: Mapping[str, Answer], asked: Request, number: int = 0
) -> tuple[JsonObject | None, list[str]]:
    """The object at the end of a round, and who was asked."""
    calls = made.round(asked, number)
    seen = []
    try:
        call = next(calls)
        while True:
            seen.append(call.hook.name)
            call = calls.send(answers[call.hook.name](call))
    except StopIteration as end:
        return end.value, seen


def labelled(key: str) -> Answer:
    def reply(call: Call) -> Reply:
        labels = call.document["request"]["object"]["metadata"].get("labels", {})
        path, value = "/metadata/labels", {**labels, key: "x"}
        return patch(call, [{"op": "add", "path": path, "value": value}])

    return reply


A, B, C = "a.hooks.example.com", "b.hooks.example.com", "c.hooks.example.com"


def test_each_gets_what_the_others_have_made() -> None:
    made = phase(webhook(A), webhook(B, objectSelector={"matchLabels": {"a": "x"}}))
    found, seen = played(made, {A: labelled("a"), B: labelled("b")}, request())
    assert seen == [A, B]
    assert found == config_map(labels={"a": "x", "b": "x"})
    assert made.wants_another
    assert [one["mutated"] for one in map(json.loads, made.notes.annotations.values())] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    "operations", [[], [{"op": "test", "path": "/kind", "value": "ConfigMap"}]]
)
def test_a_patch_that_changes_nothing(operations: list[Any]) -> None:
    made = phase(webhook(A))
    found, _ = played(made, {A: lambda call: patch(call, operations)}, request())
    assert found == config_map()
    assert not made.wants_another


def thing_request() -> Request:
    thing = {"apiVersion": "a.io/v1", "kind": "Thing", "metadata": {"name": "c"}}
    return replace(request(thing), kind=GroupVersionKind("a.io", "v1", "Thing"))


def test_a_custom_resource_ends_in_the_version_of_the_request() -> None:
    operations = [{"op": "replace", "path": "/apiVersion", "value": "a.io/v2"}]
    asked = thing_request()
    made = phase(webhook(A), webhook(B, objectSelector={"matchLabels": {"x": "y"}}))
    found, _ = played(made, {A: lambda call: patch(call, operations)}, asked)
    assert found == asked.object
    assert made.wants_another


@pytest.mark.parametrize(
    ("operations", "gvk"),
    [
        ([{"op": "remove", "path": "/apiVersion"}], "/, Kind=Thing"),
        ([{"op": "replace", "path": "/apiVersion", "value": "v1"}], "/v1, Kind=Thing"),
        ([{"op": "move", "from": "/apiVersion", "path": "/metadata/namespace"}], "/, Kind=Thing"),
    ],
)
def test_a_custom_resource_of_another_group_is_refused(operations: list[Any], gvk: str) -> None:
    made = phase(webhook(A), webhook(B))
    with pytest.raises(StatusError) as raised:
        played(made, {A: lambda call: patch(call, operations), B: answer}, thing_request())
    status = raised.value.status
    message = f'{gvk} is unstructured and is not suitable for converting to "a.io/v1"'
    assert (status.code, status.reason, status.message) == (500, "", message)
    assert len(made.notes.annotations) == 2  # the others are asked before


def test_any_patch_cuts_times_that_are_too_fine() -> None:
    test = [{"op": "test", "path": "/kind", "value": "ConfigMap"}]
    made = phase(webhook(A), webhook(B), coarse=True)
    played(made, dict.fromkeys((A, B), lambda call: patch(call, test)), request())
    assert made.wants_another
    flags = [one["mutated"] for one in map(json.loads, made.notes.annotations.values())]
    assert flags == [True, False]


def test_the_first_no_ends_it() -> None:
    made = phase(webhook(A), webhook(B))
    with pytest.raises(StatusError, match="denied the request: no"):
        played(
            made, {A: lambda call: answer(call, allowed=False, status={"message": "no"})}, request()
        )
    assert [json.loads(one)["mutated"] for one in made.notes.annotations.values()] == [False]


def test_failed_calls_are_ignored_or_told() -> None:
    ignoring = phase(webhook(A, failurePolicy="Ignore"), webhook(B))
    found, seen = played(ignoring, {A: lambda _: REFUSED, B: labelled("b")}, request())
    assert seen == [A, B]
    assert found == config_map(labels={"b": "x"})
    key = "failed-open.mutation.webhook.admission.k8s.io/round_0_index_0"
    assert ignoring.notes.annotations[key] == A
    counted = [(one.rejected, one.code, one.failed_open) for one in ignoring.notes.calls]
    assert counted == [(False, 503, True), (False, 200, False)]
    failing = phase(webhook(A))
    with pytest.raises(StatusError, match="failed calling webhook"):
        played(failing, {A: lambda _: REFUSED}, request())
    assert [(one.rejected, one.failed_open) for one in failing.notes.calls] == [(True, False)]


def test_what_is_deprecated_of_a_certificate_is_noted() -> None:
    noted = replace(REFUSED, annotations=(("x.example.com/host", "why"),))
    made = phase(webhook(A, failurePolicy="Ignore"), webhook(B, failurePolicy="Ignore"))
    played(made, {A: lambda _: noted, B: lambda _: noted}, request())
    assert made.notes.annotations["x.example.com/host"] == "why"


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@pytest.mark.parametrize(
    ("operations", "text"),
    [
        (
            [{"op": "remove", "path": "/data/x"}],
            "remove operation does not apply: doc is missing path",
        ),
        ([{"path": "/a"}], "Unexpected kind: unknown"),
        ([None], "Unexpected kind: unknown"),
    ],
)
def test_a_patch_that_does_not_apply(policy: str, operations: list[Any], text: str) -> None:
    made = phase(webhook(A, failurePolicy=policy))
    with pytest.raises(StatusError, match=f"Internal error occurred: {text}") as failed:
        played(made, {A: lambda call: patch(call, operations)}, request())
    assert failed.value.code == 500


@pytest.mark.parametrize(
    ("operations", "text"),
    [
        ({}, "json: cannot unmarshal object into Go value of type jsonpatch.Patch"),
        ([1], "json: cannot unmarshal number into Go value of type jsonpatch.Operation"),
    ],
)
def test_what_is_no_patch_is_a_failed_call(operations: Any, text: str) -> None:
    found, _ = played(
        phase(webhook(A, failurePolicy="Ignore")),
        {A: lambda call: patch(call, operations)},
        request(),
    )
    assert found == config_map()
    with pytest.raises(StatusError, match="received undecodable patch") as failed:
        played(phase(webhook(A)), {A: lambda call: patch(call, operations)}, request())
    assert str(failed.value).endswith(text)


def test_what_is_no_patch_was_an_error_of_the_server() -> None:
    hooks = phase(webhook(A, failurePolicy="Ignore"))
    with answering_as("1.33"), pytest.raises(StatusError) as failed:
        played(hooks, {A: lambda call: patch(call, {})}, request())
    assert str(failed.value) == (
        "Internal error occurred: json: cannot unmarshal object into Go value of type "
        "jsonpatch.Patch"
    )


def test_nothing_to_patch() -> None:
    asked = request(None, Operation.DELETE, old_object=config_map())
    with pytest.raises(StatusError, match="attempted to modify the object"):
        played(phase(webhook(A)), {A: labelled_anyhow}, asked)


def labelled_anyhow(call: Call) -> Reply:
    return patch(call, [{"op": "add", "path": "/metadata/labels", "value": {}}])


def test_those_before_a_change_are_asked_again() -> None:
    """A only allows, B changes: A has to see that; C comes after it and is no concern."""
    again = {"reinvocationPolicy": "IfNeeded"}
    made = phase(webhook(A, **again), webhook(B, **again), webhook(C, **again))
    answers: dict[str, Answer] = {A: answer, B: labelled("b"), C: answer}
    found, seen = played(made, answers, request())
    assert seen == [A, B, C]
    _, seen = played(made, {A: answer}, request(found), 1)
    assert seen == [A]


def test_a_change_between_the_rounds_concerns_all_that_want_to_know() -> None:
    made = phase(webhook(A, reinvocationPolicy="IfNeeded"), webhook(B))
    played(made, {A: answer, B: labelled("b")}, request())
    _, seen = played(made, {A: answer}, request(config_map(labels={"other": "y"})), 1)
    assert seen == [A]


def test_two_that_fight_are_each_asked_twice() -> None:
    again = {"reinvocationPolicy": "IfNeeded"}
    made = phase(webhook(A, **again), webhook(B, **again))

    def value(text: str) -> Answer:
        return lambda call: patch(call, [{"op": "add", "path": "/data", "value": {"k": text}}])

    answers = {A: value("a"), B: value("b")}
    found, seen = played(made, answers, request())
    assert seen == [A, B]
    found, seen = played(made, answers, request(found), 1)
    assert seen == [A, B]
    assert found == config_map(data={"k": "b"})


def test_what_cannot_even_be_asked_is_noted() -> None:
    """A dry run, and a webhook that does not say that it has no side effects."""
    made = phase(webhook(A, sideEffects="Some"))
    with pytest.raises(StatusError, match="does not support dry run") as refused:
        played(made, {}, request(dry_run=True))
    (record,) = made.notes.calls
    assert record == CallRecord.own_error(record.hook, refused.value)
    assert record.hook.name == A
