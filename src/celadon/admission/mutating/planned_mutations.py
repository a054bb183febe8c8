"""What of a round is known before it begins: who is asked about what, and what comes of it.

For most policies it depends on the endpoint alone whether they are asked: they have no selectors
and no params (`Standing`). If their configurations are known too, and have plans for the kind,
nothing of a policy has to be evaluated for a request (`planned_changes`).
"""

from __future__ import annotations

from typing import NamedTuple

from celadon.admission.candidates import Candidate
from celadon.admission.hits import Hit
from celadon.admission.mutating.compiled_mutations import CompiledMutatingPolicy
from celadon.admission.mutating.mutation_records import Change
from celadon.admission.policy import params
from celadon.admission.verdict import Note, Outcome
from celadon.kube import JsonObject
from celadon.kube.apply import MergePlanner, Unplanned


class Planned(NamedTuple):
    """A policy that is asked for one of its bindings with one param. `note` says that it was; `key`
    identifies it among all that are asked."""

    policy: CompiledMutatingPolicy
    binding: str
    hit: Hit
    param: JsonObject | None
    param_name: str
    note: Note
    key: tuple[str, str, str]


def planned(
    candidate: Candidate[CompiledMutatingPolicy], binding: str, hit: Hit, param: JsonObject | None
) -> Planned:
    """With a param as it was found."""
    policy, name = candidate.compiled, params.param_name(param)
    note = Note(Outcome.EVALUATED, policy.name, binding, name)
    given = params.untyped(param, candidate.source)
    return Planned(policy, binding, hit, given, name, note, (policy.name, binding, name))


class Standing(NamedTuple):
    """A candidate; `always` is how every request is shown to it, None if that depends on the
    request."""

    candidate: Candidate[CompiledMutatingPolicy]
    always: tuple[Planned, ...] | None


def standing(candidate: Candidate[CompiledMutatingPolicy]) -> Standing:
    """What is known of it."""
    hit = candidate.plan.direct
    bound = candidate.bindings
    if hit is None or candidate.error or not candidate.matches_own:
        return Standing(candidate, None)
    if any(one.plan.direct is None or one.params.looks_up for one in bound):
        return Standing(candidate, None)
    return Standing(
        candidate, tuple(planned(candidate, one.binding.name, hit, None) for one in bound)
    )


def planned_changes(
    one: Planned, live: JsonObject, planner: MergePlanner, number: int
) -> list[Change] | None:
    """What a policy whose configurations are known does to an object. None if it has to be
    evaluated."""
    policy = one.policy
    changes = []
    try:
        for index, (known, source) in enumerate(policy.known):
            plan = known.plan(planner)
            if plan is None:
                return None
            made = plan(live)
            changes.append(
                Change(policy.name, one.binding, one.param_name, index, source, number, live, made)
            )
            live = made
    except Unplanned:
        return None
    return changes
