"""The main job: documents to a `Report`.

In order: the world that policies look at (`given_world`), what becomes of each document
(`object_judging`), and what all that means to a reader (here). At the end `notices` looks for
everything that went by without a word.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from celadon.admission import Engine, ObjectWorld
from celadon.cli.checking.asking.answer_sources import AnswerSource, answer_source
from celadon.cli.checking.asking.said import Asks, NobodyToAsk
from celadon.cli.checking.asking.webhook_documents import WebhookDocuments, webhook_documents
from celadon.cli.checking.check_report import Report
from celadon.cli.checking.given.check_inputs import CheckInputs
from celadon.cli.checking.given.plugin_setting import plugin_setting, unasked_plugins
from celadon.cli.checking.given_world import given_world
from celadon.cli.checking.judging.check_findings import Findings
from celadon.cli.checking.judging.object_judging import Judge, Judged, Settings
from celadon.cli.checking.judging.parallel_judging import judged_in_order, workers_for
from celadon.cli.checking.notices import Sightings, notices, unasked
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.policy_set import (
    PolicySet,
    mutating_engine,
    validating_engine,
)
from celadon.cli.checking.questions import identity
from celadon.kube.catalogue import DEFAULT_PLUGINS
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.mutating import MutatingEngine
    from celadon.cli.checking.mutation.object_mutation import Mutators
    from celadon.cli.checking.server_plugins.quota_ledger import QuotaLedger


@dataclass(frozen=True, slots=True)
class EngineMakers:
    """Who makes engines of policies and a release. Whoever checks again and again remembers."""

    validating: Callable[[PolicySet, str], Engine] = validating_engine
    mutating: Callable[[PolicySet, str], MutatingEngine] = mutating_engine


ANEW: Final = EngineMakers()


def check(
    given: CheckInputs,
    step: Callable[[int], None],
    look: Callable[[Judged], None] | None = None,
    makers: EngineMakers = ANEW,
) -> Report:
    """Judges every document that is to be admitted. `step` is told how many are done; whoever has
    to `look` on is told of each, in this process."""
    manifests, sets, settings = given.manifests, given.policies, given.settings
    prepare = Prepare(
        manifests.existing,
        settings.question.user,
        settings.now,
        settings.version,
        namespace=settings.question.namespace,
        defaulting=settings.defaulting,
        field_validation=settings.question.field_validation,
        plugins=DEFAULT_PLUGINS if settings.plugins is None else settings.plugins.names,
    )
    choice = settings.asked_plugins
    whole = settings.plugins is not None and settings.plugins.whole_cluster
    world, problems = given_world(manifests, sets, prepare, whole=whole)
    quotas = None
    if choice is not None:
        asked = plugin_setting(choice, settings.version, settings.now, manifests, world, prepare)
        prepare, quotas = asked.prepare, asked.quotas
    webhooks = webhook_documents(manifests.existing, settings.version)
    mutators = _mutators(makers, given, world, prepare, looks=look is not None)
    with answer_source(settings.webhooks, world, webhooks.names) as source:
        asking = _asking(webhooks, source, settings, world, prepare, mutators)
        alone = not webhooks.count and look is None
        engine = makers.validating(sets.validating, settings.version)
        report = _judged(given, engine, step, prepare, world, asking, look, quotas, alone=alone)
    return replace(
        report,
        webhooks=webhooks.count,
        policy_errors=(*report.policy_errors, *webhooks.errors),
        notices=(*report.notices, *unasked(report.objects), *source.notices),
        problems=tuple(
            dict.fromkeys((*manifests.problems, *problems, *source.problems, *report.problems))
        ),
        needs_answers=settings.webhooks.asks,
        plugins=() if choice is None else choice.asked,
    )


def _mutators(
    makers: EngineMakers, given: CheckInputs, world: ObjectWorld, prepare: Prepare, *, looks: bool
) -> Mutators | None:
    """None where no policy changes anything."""
    sets, settings = given.policies, given.settings
    if not settings.defaulting or not sets.mutating.policies:
        return None
    from celadon.cli.checking.mutation.object_mutation import Mutators

    engine = makers.mutating(sets.mutating, settings.version)
    return Mutators(engine, world, prepare.custom_kind, looks)


def _asking(
    webhooks: WebhookDocuments,
    source: AnswerSource,
    settings: Settings,
    world: ObjectWorld,
    prepare: Prepare,
    mutators: Mutators | None,
) -> Asks:
    if not webhooks.count and mutators is None:
        return NobodyToAsk()
    from celadon.cli.checking.asking.webhook_rounds import Asking

    return Asking(
        webhooks, settings.version, source.answers, source.as_json, world, prepare, mutators
    )


def _judged(
    given: CheckInputs,
    engine: Engine,
    step: Callable[[int], None],
    prepare: Prepare,
    world: ObjectWorld,
    asking: Asks,
    look: Callable[[Judged], None] | None,
    quotas: QuotaLedger | None,
    *,
    alone: bool,
) -> Report:
    """What becomes of the objects, and what is said about policies. `alone`: there is nobody who
    has to be asked or told about one object after the other."""
    manifests, sets, settings = given.manifests, given.policies, given.settings
    there = (*manifests.looked_up, *manifests.old) if settings.question.applies else manifests.old
    olds = {identity(one, settings.question.namespace): one for one in there}
    found = Findings(Sightings.wanted(sets))
    judge = Judge(engine, world, prepare, asking, sets, settings, olds, found, look, quotas)
    done = itertools.count(1)
    workers = workers_for(manifests.admitted, settings.jobs) if alone else 1
    for one in judged_in_order(judge.judged, manifests.admitted, workers, lambda: step(next(done))):
        found.add(one)
    if quotas is not None:
        quotas.settle(found.results, found.charges)
    if found.sightings.any:
        found.mutations.count_silent(sets.mutating)
    mutations = found.mutations if settings.defaulting else None
    operation = None if settings.question.applies else settings.question.operation
    said = notices(manifests, sets, operation, found.sightings, mutations, found.coverage)
    return Report(
        objects=tuple(found.results),
        policies=sum(len(one.policies) for one in sets.all),
        bindings=sum(len(one.bindings) for one in sets.all),
        policy_errors=tuple(error for one in sets.all for error in one.errors),
        notices=(*said, *found.ignored.values()),
        problems=(*found.unsendable, *found.early_crashes, *found.crashes),
        strict=settings.strict,
        fail_on_warning=settings.fail_on_warning,
        unasked_plugins=unasked_plugins(settings.asked_plugins, found.unasked),
    )
