"""What the cases of a test leave out together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from celadon.cli.checking.check_report import Place
from celadon.cli.policy_tests.case_results import CaseResult
from celadon.cli.policy_tests.expectations import CaseVerdict
from celadon.cli.policy_tests.policy_test import Case, PolicyTest
from celadon.cli.policy_tests.vacuities import Doubt, Vacuity

_CONTENT = frozenset({CaseVerdict.ADMIT, CaseVerdict.NO_MATCH})


def shared_doubts(test: PolicyTest, results: Sequence[CaseResult]) -> Iterator[Doubt]:
    """About all cases of a test that were run; nothing where one could not be."""
    outcomes = [one.outcome for one in results if one.outcome is not None]
    yield from test.assumed
    yield from _same_cases([one for one in test.cases if not one.skip])
    if not outcomes or len(outcomes) < len(results):
        return
    place = Place(test.file)
    for name in sorted(set().union(*(one.under_test for one in outcomes))):
        reaching = [one for one in outcomes if name in one.reached]
        if not reaching:
            yield Doubt(Vacuity.NEVER_REACHED, f"no case reaches policy `{name}`", place)
        elif all(one.verdict in _CONTENT and not one.result.mutated for one in reaching):
            text = f"in no case policy `{name}` speaks against a request, or changes one"
            yield Doubt(Vacuity.NEVER_SPEAKS, text, place)
        elif not any(one.verdict is CaseVerdict.ADMIT for one in reaching):
            text = f"in no case policy `{name}` looks at a request and lets it pass"
            yield Doubt(Vacuity.NEVER_CONTENT, text, place)


def _same_cases(cases: Sequence[Case]) -> Iterator[Doubt]:
    seen: dict[str, Case] = {}
    for case in cases:
        before = seen.setdefault(_asked(case), case)
        if before is not case:
            text = f"case `{case.name}` asks what case `{before.name}` asks"
            yield Doubt(Vacuity.SAME_CASE, text, case.place)


def _asked(case: Case) -> str:
    """The same text for the same request in the same cluster."""
    asked = (
        case.object.value,
        None if case.old is None else case.old.value,
        case.operation,
        case.subresource,
        case.namespace,
        case.user,
        case.dry_run,
        [one.value for one in case.cluster],
        case.answers,
        case.policies,
        case.versions,
    )
    return repr(asked)
