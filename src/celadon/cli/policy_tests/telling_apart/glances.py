"""What a request comes to, as far as it takes to see that two policies differ.

A request is sent through the mutating policies and judged by the validating ones; nobody checks it
against a schema, and no report is made. Where two glances are equal, no case can tell the policies
apart; where they are not, the case is run as any other. Of what is equal in `shown` nobody can be
told apart by what a client or the audit log gets to see.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from celadon.admission import Decision, Outcome, Verdict
from celadon.cli.checking.asking.said import Said
from celadon.cli.policy_tests.policy_test import Case
from celadon.cli.policy_tests.running.case_bench import Bench, Sent

_LOOKED: frozenset[Outcome] = frozenset({Outcome.EVALUATED})


class Glance:
    """`sent` is None for what cannot be asked. `seen` is equal for what looks the same; `reached`
    are the policies that were evaluated."""

    __slots__ = ("_shown", "_verdict", "reached", "seen", "sent")

    def __init__(self, sent: Sent | None, verdict: Verdict | None = None) -> None:
        self.sent = sent
        self._verdict = verdict
        self._shown: str | None = None
        self.seen: tuple[Any, ...] = ()
        self.reached: frozenset[str] = frozenset()
        if sent is not None and verdict is not None:
            decisions = tuple(map(_without_cost, verdict.decisions))
            said = _said(sent.said)
            self.seen = (*_answer(sent, verdict), *said, decisions, verdict.notes)
            self.reached = _reached(sent.said, verdict)

    @property
    def shown(self) -> str:
        """As JSON, what is equal for what looks the same from outside."""
        if self._shown is None and self.sent is not None and self._verdict is not None:
            said, verdict = self.sent.said, self._verdict
            spoken = sorted(map(json.dumps, _spoken(said, verdict)))
            found = (*_answer(self.sent, verdict), sorted(self.reached), spoken)
            self._shown = json.dumps(found, sort_keys=True, default=str)
        return self._shown or ""

    @property
    def answer(self) -> tuple[Any, ...]:
        """What a client and the audit log get to see."""
        if self.sent is None or self._verdict is None:
            return ()
        return _answer(self.sent, self._verdict)

    @property
    def signs(self) -> tuple[Any, ...]:
        """Which parts of policies had a say, whatever they said."""
        if self.sent is None or self._verdict is None:
            return ()
        return _signs(self.sent.said, self._verdict)


def glance(bench: Bench, case: Case, sent: Sent | None = None) -> Glance:
    """At a case. `sent` is what another bench has sent, if both have the same mutating policies."""
    if sent is None:
        sent = bench.sent(case)
    if sent is None:
        return Glance(None)
    engine = bench.setting(case).engines.validating
    return Glance(sent, engine.noted(sent.asked.request, sent.setting.world))


def _answer(sent: Sent, verdict: Verdict) -> tuple[Any, ...]:
    return (
        sent.asked.request.object,
        verdict.status,
        verdict.warnings,
        verdict.audit_annotations,
    )


def _reached(said: Said, verdict: Verdict) -> frozenset[str]:
    notes = (*verdict.notes, *(() if said.mutation is None else said.mutation.notes))
    reached = {one.policy for one in notes if one.outcome in _LOOKED}
    return frozenset(reached.union(one.policy for one in verdict.decisions))


def _signs(said: Said, verdict: Verdict) -> tuple[Any, ...]:
    happened = said.mutation
    spoke = [(one.policy, one.binding, one.source, one.cause) for one in verdict.decisions]
    notes = [(one.outcome, one.policy, one.binding, one.detail) for one in verdict.notes]
    if happened is None:
        return (*spoke, *notes)
    failures = [(one.policy, one.source) for one in happened.failures]
    more = [(one.outcome, one.policy, one.detail) for one in happened.notes]
    effects = [(one.policy, one.index) for one in happened.effects]
    return (*spoke, *notes, *failures, *more, *effects)


def _said(said: Said) -> tuple[Any, ...]:
    """What mutating policies had to say besides the object."""
    happened = said.mutation
    if happened is None:
        return (None,)
    return happened.failures, happened.notes


def _spoken(said: Said, verdict: Verdict) -> set[tuple[Any, ...]]:
    """What expressions of which policies have said, through whatever binding, and what they would
    have said if it were not ignored."""
    failures = () if said.mutation is None else said.mutation.failures
    return {
        *((one.policy, str(one.source), one.message, one.denies) for one in verdict.decisions),
        *((one.policy, str(one.source), one.detail) for one in verdict.notes if one.source),
        *((one.policy, str(one.source), one.text, one.ignored) for one in failures),
    }


def _without_cost(decision: Decision) -> Decision:
    return decision if decision.cost is None else replace(decision, cost=None)
