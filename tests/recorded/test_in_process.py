"""Every recorded scenario against the server in process, one test each.

The selected scenarios of a group are replayed together, so that their waiting is done at once; the
first test of a group takes the time of all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tests.recorded.scenarios import Scenario, scenarios, unreached
from tests.serve.replaying import replayed_together

Outcomes = Mapping[str, list[str]]
KNOWN = unreached()
EVERY = scenarios()


def as_parameter(scenario: Scenario) -> object:
    """A listed scenario must fail: one that passes is to be taken off the list."""
    reason = KNOWN.get(scenario.name)
    marks = () if reason is None else (pytest.mark.xfail(reason=reason, strict=True),)
    return pytest.param(scenario, id=scenario.name, marks=marks)


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> Callable[[str], Outcomes]:
    """By the name of a group, what differs in each of its selected scenarios."""
    mine = [item for item in request.session.items if item.path == request.path]
    called = (getattr(item, "callspec", None) for item in mine)
    selected = [one.params["scenario"] for one in called if one is not None]
    done: dict[str, Outcomes] = {}

    def of_group(name: str) -> Outcomes:
        if name not in done:
            group = [one for one in selected if one.group.name == name]
            found = replayed_together([one.path for one in group], group[0].group.jobs)
            done[name] = {one.name: wrong for one, (_, wrong) in zip(group, found, strict=True)}
        return done[name]

    return of_group


@pytest.mark.slow
@pytest.mark.skipif(not EVERY, reason="no recordings: set CELADON_SHARED to the shared folder")
@pytest.mark.parametrize("scenario", [as_parameter(one) for one in EVERY])
def test_scenario(scenario: Scenario, outcomes: Callable[[str], Outcomes]) -> None:
    wrong = outcomes(scenario.group.name)[scenario.name]
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(not EVERY, reason="no recordings: set CELADON_SHARED to the shared folder")
def test_the_list_names_recordings() -> None:
    assert KNOWN.keys() <= {one.name for one in EVERY}
