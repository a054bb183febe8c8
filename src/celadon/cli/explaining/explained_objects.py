"""The check, with somebody looking on: what `check` says of each object, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from celadon.admission.explanation import (
    Explanation,
    HookExplanation,
    explain,
    explain_hooks,
)
from celadon.cli.checking.asking.webhook_documents import webhook_documents
from celadon.cli.checking.check_report import Creator, ObjectResult, Place, Report
from celadon.cli.checking.check_run import check
from celadon.cli.checking.given.check_inputs import CheckInputs
from celadon.cli.checking.given_cluster import ANEW, EngineMakers
from celadon.cli.checking.judging.object_judging import Judged
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class ExplainedObject:
    """What was judged, and why. `mutation` is None where no mutating policies are given. An
    object that is refused before validating policies see it is explained as they would see it, and
    so is it to all webhooks: as mutating ones have left it."""

    number: int
    judged: Judged
    mutation: Explanation | None
    validation: Explanation
    mutating_hooks: tuple[HookExplanation, ...] = ()
    validating_hooks: tuple[HookExplanation, ...] = ()

    @property
    def result(self) -> ObjectResult:
        """What `check` says."""
        return self.judged.result


def explained_objects(
    given: CheckInputs,
    wanted: Callable[[int, ObjectResult], bool],
    step: Callable[[int], None],
    makers: EngineMakers = ANEW,
) -> tuple[Report, list[ExplainedObject]]:
    """The report on all objects, and the explanations of those that are wanted, by their number
    from 1 or by what is known of them. What controllers would create has the number of the workload
    that it is created of."""
    found: list[ExplainedObject] = []
    count = 0
    version = given.settings.version
    webhooks = webhook_documents(given.manifests.existing, version)
    hooks = [
        webhooks.hooks(version, mutating=mutating) if webhooks.count else None
        for mutating in (True, False)
    ]

    def look(judged: Judged) -> None:
        nonlocal count
        count += judged.result.created_by is None
        if wanted(count, judged.result):
            mutation = (
                None if judged.before.mutation is None else judged.before.mutation.explanation
            )
            request, world = judged.asked.request, judged.world
            validation = explain(judged.engine, request, world)
            mutating, validating = (
                () if one is None else explain_hooks(one, request, world) for one in hooks
            )
            found.append(ExplainedObject(count, judged, mutation, validation, mutating, validating))

    report = check(given, step, look, makers)
    last = {(one.title, one.place, one.created_by): one for one in report.objects}
    return report, [_as_reported(one, last) for one in found]


def _as_reported(
    one: ExplainedObject, last: Mapping[tuple[str, Place, Creator | None], ObjectResult]
) -> ExplainedObject:
    """With what became of it in the end: quotas are asked when all else is done."""
    result = one.result
    final = last.get((result.title, result.place, result.created_by), result)
    if not final.plugin or result.is_refused:
        return one
    return replace(one, judged=one.judged._replace(result=final))
