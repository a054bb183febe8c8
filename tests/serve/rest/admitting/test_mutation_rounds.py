"""What webhooks make of the options of a connection, beside a fake of the webhooks."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from celadon.admission import Operation, Request
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User
from celadon.serve.rest.admitting.mutation_rounds import Mutation
from celadon.serve.rest.calls import Notes

OPTIONS = {"kind": "PodExecOptions", "apiVersion": "v1", "command": ["id"]}
ASKED = Request(
    operation=Operation.CONNECT,
    kind=GroupVersionKind("", "v1", "PodExecOptions"),
    resource=GroupVersionResource("", "v1", "pods"),
    subresource="exec",
    name="p",
    namespace="default",
    object=OPTIONS,
    user=User("u"),
)


class Hooks:
    """Each round adds a word to the command."""

    def __init__(self, *, care: bool, rounds: int) -> None:
        self.care = care
        self.seen: list[Any] = []
        notes = SimpleNamespace(warnings=["w"], annotations={}, request_annotations={})
        self.phase = SimpleNamespace(wants_another=rounds > 1, notes=notes)

    def mutates(self, _: Request) -> bool:
        return self.care

    def mutation(self, *_: Any, **__: Any) -> Any:
        return self.phase

    async def run_round(self, _: Any, request: Request, number: int, __: Any) -> JsonObject:
        self.seen.append(request.object)
        assert request.object is not None
        return {**request.object, "command": [*request.object["command"], str(number)]}


@pytest.mark.parametrize(
    ("care", "rounds", "command"),
    [(False, 1, ["id"]), (True, 1, ["id", "0"]), (True, 2, ["id", "0", "1"])],
)
def test_options_are_what_the_last_round_made_of_them(
    care: bool, rounds: int, command: list[str]
) -> None:
    hooks = Hooks(care=care, rounds=rounds)
    plugins: Any = SimpleNamespace(mutate=lambda *_: None)
    nothing: Any = None
    given: Any = hooks
    mutation = Mutation(plugins, nothing, nothing, given, nothing, nothing)
    call: Any = SimpleNamespace(remaining=None, notes=Notes())
    made = asyncio.run(mutation.looked_at(call, ASKED))
    assert made.object == {**OPTIONS, "command": command}
    assert OPTIONS["command"] == ["id"]
    assert call.notes.warnings == ["w"] * care
    assert hooks.seen == [OPTIONS, {**OPTIONS, "command": ["id", "0"]}][: rounds * care]
