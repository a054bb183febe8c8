"""Who is asked in which order, and what ends the chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from celadon.admission import Operation, Request, Verdict
from celadon.admission.chain import Admitters, Chain, NoteTaker, Stage, Steps, WebhookCalls
from celadon.admission.plugins import Opinion
from celadon.admission.webhooks import (
    Call,
    MutatingPhase,
    NoReply,
    Reply,
    ValidatingPhase,
    WebhookNotes,
)
from celadon.kube import GroupVersionKind, JsonObject, StatusError, status
from celadon.kube.registry import Draft, drafted
from tests.admission.building import config_map, request
from tests.admission.webhooks.hooking import WORLD, answer, as_json, hooks, new_uid, patch, webhook

KIND = GroupVersionKind("", "v1", "ConfigMap")
FIRST, SECOND, LAST = "a.hooks.example.com", "b.hooks.example.com", "v.hooks.example.com"


def refused(text: str) -> StatusError:
    return status.bad_request(text)


def labelled(obj: JsonObject | None, key: str) -> JsonObject:
    assert obj is not None
    meta = obj["metadata"]
    return {**obj, "metadata": {**meta, "labels": {**meta.get("labels", {}), key: "x"}}}


def labels(obj: JsonObject | None) -> list[str]:
    assert obj is not None
    return list(obj["metadata"].get("labels", {}))


class Policies:
    """Each round adds a label, except that `quiet` policies leave the object alone."""

    def __init__(self, asked: Asked, *, quiet: bool = False) -> None:
        self._asked = asked
        self._quiet = quiet
        self.wants_another = False

    def run(self, request: Request, number: int) -> JsonObject | None:
        self._asked.seen.append((f"policies {number}", labels(request.object)))
        self._asked.refuse("policies")
        if self._quiet:
            return request.object
        self.wants_another = True
        return labelled(request.object, f"policies{number}")


class Asked(Admitters, NoteTaker):
    """Everybody there is to ask. `seen` says who was asked, with which labels on the object;
    whoever is named by `refuses` has something against the request."""

    def __init__(self, *, refuses: str = "", quiet: bool = False, hooked: bool = True) -> None:
        self.seen: list[tuple[str, list[str]]] = []
        self.notes: list[str] = []
        self._refuses = refuses
        self._quiet = quiet
        self._hooked = hooked

    def refuse(self, who: str) -> None:
        if who == self._refuses:
            raise refused(who)

    def mutate(self, draft: Draft | None, request: Request) -> StatusError | None:
        assert draft is None or request.object is draft.decoded
        self.seen.append(("plugins", labels(request.object)))
        return refused("plugins") if self._refuses == "plugins" else None

    def mutating_policies(self, request: Request, draft: Draft | None) -> Policies | None:
        return Policies(self, quiet=self._quiet)

    def mutating_webhooks(self, request: Request, draft: Draft | None) -> MutatingPhase | None:
        if not self._hooked:
            return None
        found = hooks(webhook(FIRST), webhook(SECOND), mutating=True)
        return MutatingPhase(found, WORLD, lambda made, kind: (made, made), new_uid, as_json)

    def validate(self, request: Request) -> Opinion:
        self.seen.append(("validating plugins", labels(request.object)))
        refusal = refused("later plugins") if self._refuses == "later plugins" else None
        return Opinion(refusal, ("remark",))

    def validating_policies(self, request: Request) -> Callable[[Request], Verdict] | None:
        def review(request: Request) -> Verdict:
            self.seen.append(("validating policies", labels(request.object)))
            return Verdict(allowed=self._refuses != "validating policies")

        return review

    def validating_webhooks(self, request: Request) -> Callable[[Request], ValidatingPhase] | None:
        if not self._hooked:
            return None
        found = hooks(webhook(LAST), mutating=False)
        return lambda request: ValidatingPhase(found, request, WORLD, new_uid, as_json)

    def take_opinion(self, opinion: Opinion) -> None:
        self.notes += opinion.warnings

    def take_verdict(self, verdict: Verdict) -> None:
        self.notes.append("allowed" if verdict.allowed else "denied")

    def take_answers(self, notes: WebhookNotes, number: int, *, mutating: bool) -> None:
        self.notes.append(f"{len(notes.calls)} answers in round {number}")

    def take_webhooks(self, notes: WebhookNotes) -> None:
        self.notes += [f"asked {one.hook.name}" for one in notes.calls]


Answers = Mapping[str, Callable[[Call], Reply | NoReply | None]]


def driven(chain: Chain, steps: Steps, asked: Asked, answers: Answers) -> list[Stage]:
    """The stages that were gone through."""
    stages = []
    for step in steps:
        if isinstance(step, WebhookCalls):
            for call in step.calls:
                obj = call.document["request"]["object"]
                asked.seen.append((call.hook.name, labels(obj)))
                step.answer(call, answers.get(call.hook.name, answer)(call))
        else:
            stages.append(step)
    return stages


def begun(asked: Asked, **more: Any) -> Chain:
    draft = drafted(config_map(), KIND)
    return Chain(replace(request(**more), object=draft.decoded), draft, asked, asked)


def label(key: str) -> Callable[[Call], Reply]:
    def reply(call: Call) -> Reply:
        found = call.document["request"]["object"]["metadata"].get("labels", {})
        operation = {"op": "add", "path": "/metadata/labels", "value": {**found, key: "x"}}
        return patch(call, [operation])

    return reply


def test_the_whole_way() -> None:
    asked = Asked()
    chain = begun(asked)
    stages = driven(chain, chain.steps(), asked, {FIRST: label("hook")})
    once, round_0 = ["policies0"], ["policies0", "hook"]
    assert asked.seen == [
        ("plugins", []),
        ("policies 0", []),
        (FIRST, once),
        (SECOND, round_0),
        ("plugins", round_0),
        ("policies 1", round_0),
        ("validating plugins", [*round_0, "policies1"]),
        ("validating policies", [*round_0, "policies1"]),
        (LAST, [*round_0, "policies1"]),
    ]
    assert stages == [
        Stage.MUTATING_PLUGINS,
        Stage.MUTATING_POLICIES,
        Stage.MUTATING_WEBHOOKS,
        Stage.MUTATING_PLUGINS,
        Stage.MUTATING_POLICIES,
        Stage.MUTATING_WEBHOOKS,
        Stage.VALIDATION,
        Stage.VALIDATING_PLUGINS,
        Stage.VALIDATING_POLICIES,
        Stage.VALIDATING_WEBHOOKS,
    ]
    assert (chain.verdict.allowed, chain.rounds) == (True, 2)
    assert asked.notes == [
        "0 answers in round 0",
        "1 answers in round 0",
        "2 answers in round 0",
        "2 answers in round 1",
        f"asked {FIRST}",
        f"asked {SECOND}",
        "remark",
        "allowed",
        "0 answers in round 0",
        "1 answers in round 0",
        f"asked {LAST}",
    ]


def test_one_round_is_enough_where_nothing_changes() -> None:
    asked = Asked(quiet=True)
    chain = begun(asked)
    draft = chain.draft
    driven(chain, chain.mutation(), asked, {})
    assert [who for who, _ in asked.seen] == ["plugins", "policies 0", FIRST, SECOND]
    assert (chain.rounds, chain.draft) == (1, draft)


@pytest.mark.parametrize(
    ("refuses", "last", "notes"),
    [
        ("plugins", "plugins", []),
        ("policies", "policies 0", []),
        ("later plugins", "validating plugins", ["remark"]),
    ],
)
def test_a_refusal_ends_it(refuses: str, last: str, notes: list[str]) -> None:
    asked = Asked(refuses=refuses, quiet=True, hooked=False)
    chain = begun(asked)
    with pytest.raises(StatusError, match=refuses):
        driven(chain, chain.steps(), asked, {})
    assert asked.seen[-1][0] == last
    assert asked.notes == notes


def denied(call: Call) -> Reply:
    return answer(call, allowed=False)


def test_what_webhooks_said_is_noted_although_one_refuses() -> None:
    asked = Asked(quiet=True)
    chain = begun(asked)
    with pytest.raises(StatusError, match=FIRST):
        driven(chain, chain.steps(), asked, {FIRST: denied})
    assert asked.notes == ["0 answers in round 0", "1 answers in round 0", f"asked {FIRST}"]
    asked = Asked(quiet=True)
    chain = begun(asked)
    with pytest.raises(StatusError, match=LAST):
        driven(chain, chain.validation(), asked, {LAST: denied})
    assert asked.notes[-1] == f"asked {LAST}"


def test_a_denial_is_a_verdict_and_no_webhook_is_asked() -> None:
    asked = Asked(refuses="validating policies")
    chain = begun(asked)
    driven(chain, chain.validation(), asked, {})
    assert not chain.verdict.allowed
    assert [who for who, _ in asked.seen] == ["validating plugins", "validating policies"]
    assert asked.notes == ["remark", "denied"]


def test_a_request_without_a_draft_is_changed_itself() -> None:
    asked = Asked()
    before = request(operation=Operation.CONNECT, size=7)
    chain = Chain(before, None, asked, asked)
    driven(chain, chain.mutation(), asked, {FIRST: label("hook")})
    assert labels(chain.request.object) == ["policies0", "hook", "policies1"]
    assert (chain.request.size, before.size, labels(before.object)) == (None, 7, [])


def test_nobody_has_to_answer() -> None:
    asked = Asked(quiet=True)
    chain = begun(asked)
    driven(chain, chain.steps(), asked, dict.fromkeys((FIRST, SECOND, LAST), lambda _: None))
    assert chain.verdict.allowed
    assert not [one for one in asked.notes if one.startswith("asked")]


def test_whom_to_ask_is_known_before_the_first_step() -> None:
    asked = Asked()
    chain = begun(asked)
    assert next(chain.mutation()) is Stage.MUTATING_PLUGINS
    assert next(chain.validation()) is Stage.VALIDATING_PLUGINS
    assert asked.seen == []


def test_nobody_has_a_say() -> None:
    chain = Chain(request(), None, Admitters())
    stages = list(chain.steps())
    assert stages == [Stage.MUTATING_PLUGINS, Stage.VALIDATION, Stage.VALIDATING_PLUGINS]
    assert chain.verdict.allowed


class Plugins(Asked):
    """Nobody has written rules."""

    def mutating_policies(self, request: Request, draft: Draft | None) -> None:
        return None


@pytest.mark.parametrize("refuses", ["", "plugins", "later plugins", "validating policies"])
def test_without_rules_both_halves_are_one_step_each(refuses: str) -> None:
    in_steps = Plugins(refuses=refuses, hooked=False)
    at_once = Plugins(refuses=refuses, hooked=False)
    outcomes = []
    for asked in (in_steps, at_once):
        chain, refusal = begun(asked), ""
        try:
            if asked is in_steps:
                list(chain.mutation())
                list(chain.validation())
            else:
                chain.mutate_without_rules()
                chain.validate_without_rules()
        except StatusError as error:
            refusal = error.status.message
        outcomes.append((refusal, chain.verdict.allowed, asked.seen, asked.notes))
    assert outcomes[0] == outcomes[1]
