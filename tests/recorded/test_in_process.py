"""Recorded scenarios against the server in process, one test each: all but those that mostly wait,
and of the largest groups and of older releases a sample (`Group.sampled`). `make test` replays few
of each group.

The selected scenarios of a group are replayed together, so that their waiting is done at once; the
first test of a group takes the time of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

import pytest

from tests.apiserver.replaying import replayed_together
from tests.recorded.hook_server import bundle, hook_server
from tests.recorded.scenarios import Scenario, every_scenario
from tests.recorded.unreached_list import unreached

Outcomes = Mapping[str, list[str]]
KNOWN = unreached()
EVERY = [one for one in every_scenario() if one.is_tested]


def as_parameter(scenario: Scenario) -> object:
    """A listed scenario must fail: one that passes is to be taken off the list."""
    reason = KNOWN.get(scenario.name)
    marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
    if not scenario.is_quickly_tested:
        marks.append(pytest.mark.thorough)
    return pytest.param(scenario, id=scenario.name, marks=marks)


def replayed(group: Sequence[Scenario], ca_bundle: str | None) -> dict[str, list[str]]:
    """By the name of each scenario of a group, what differs on a new server."""
    of = group[0].group
    paths = [one.path for one in group]
    found = replayed_together(paths, of.jobs, ca_bundle, release=of.release, gates=of.gates)
    return {one.name: wrong for one, (_, wrong) in zip(group, found, strict=True)}


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> Callable[[str], Outcomes]:
    """By the name of a group, what differs in each of its selected scenarios."""
    mine = [item for item in request.session.items if item.path == request.path]
    called = (getattr(item, "callspec", None) for item in mine)
    selected = [one.params["scenario"] for one in called if one is not None]
    done: dict[str, Outcomes] = {}

    def of_group(name: str) -> Outcomes:
        if name not in done:
            group = [one for one in selected if one.group.label == name]
            with hook_server() if group[0].group.has_hooks else nullcontext() as authority:
                ca_bundle = None if authority is None else bundle(authority)
                found = replayed(group, ca_bundle)
                # Entries of managedFields stand in another order, here and upstream, where two
                # writes fall into different seconds. Nobody knows when, so it is tried once more.
                odd = [one for one in group if found[one.name] and one.name not in KNOWN]
                if odd:
                    found |= replayed(odd, ca_bundle)
            done[name] = found
        return done[name]

    return of_group


@pytest.mark.skipif(not EVERY, reason="no recordings: set CELADON_SHARED to the shared folder")
@pytest.mark.parametrize("scenario", [as_parameter(one) for one in EVERY])
def test_scenario(scenario: Scenario, outcomes: Callable[[str], Outcomes]) -> None:
    wrong = outcomes(scenario.group.label)[scenario.name]
    assert not wrong, "\n".join(wrong)
