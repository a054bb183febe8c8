"""The main job: documents to a `Report`.

In order: the cluster that the files describe (`given_cluster`), what becomes of each document
(`object_judging`), and what all that means to a reader (here). At the end `notices` looks for
everything that went by without a word.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from celadon.cli.checking.asking.answer_sources import answer_source
from celadon.cli.checking.asking.object_chain import AskedWebhooks
from celadon.cli.checking.asking.webhook_documents import webhook_documents
from celadon.cli.checking.check_report import Report
from celadon.cli.checking.given.check_inputs import CheckInputs
from celadon.cli.checking.given.plugin_setting import unasked_plugins
from celadon.cli.checking.given_cluster import (
    ANEW,
    Cluster,
    EngineMakers,
    cluster_of,
    engines_of,
)
from celadon.cli.checking.judging.check_findings import Findings
from celadon.cli.checking.judging.object_judging import Judge, Judged
from celadon.cli.checking.judging.parallel_judging import judged_in_order, workers_for
from celadon.cli.checking.notices import Sightings, notices, unasked
from celadon.cli.checking.questions import identity


def check(
    given: CheckInputs,
    step: Callable[[int], None],
    look: Callable[[Judged], None] | None = None,
    makers: EngineMakers = ANEW,
) -> Report:
    """Judges every document that is to be admitted. `step` is told how many are done; whoever has
    to `look` on is told of each, in this process."""
    manifests, settings = given.manifests, given.settings
    choice = settings.asked_plugins
    engines = engines_of(given.policies, settings.version, makers)
    cluster = cluster_of(
        manifests, engines, settings.circumstances, asks_plugins=choice is not None
    )
    documents = webhook_documents(manifests.existing, settings.version)
    with answer_source(settings.webhooks, cluster.world, documents.names) as source:
        webhooks = AskedWebhooks.of(documents, settings.version, source.answers, source.as_json)
        cluster = replace(cluster, webhooks=webhooks, looks=look is not None)
        report = _judged(given, cluster, step, look)
    return replace(
        report,
        webhooks=documents.count,
        policy_errors=(*report.policy_errors, *documents.errors),
        notices=(*report.notices, *unasked(report.objects), *source.notices),
        problems=tuple(dict.fromkeys((*cluster.problems, *source.problems, *report.problems))),
        needs_answers=settings.webhooks.asks,
        plugins=() if choice is None else choice.asked,
    )


def _judged(
    given: CheckInputs,
    cluster: Cluster,
    step: Callable[[int], None],
    look: Callable[[Judged], None] | None,
) -> Report:
    """What becomes of the objects, and what is said about policies."""
    manifests, sets, settings = given.manifests, given.policies, given.settings
    there = (*manifests.looked_up, *manifests.old) if settings.question.applies else manifests.old
    olds = {identity(one, settings.question.namespace): one for one in there}
    found = Findings(Sightings.wanted(sets))
    judge = Judge.of(cluster, settings, olds, found, look)
    done = itertools.count(1)
    # whoever has to be asked or told about one object after the other is in this process
    alone = cluster.webhooks is None and look is None
    workers = workers_for(manifests.admitted, settings.jobs) if alone else 1
    for one in judged_in_order(judge.judged, manifests.admitted, workers, lambda: step(next(done))):
        found.add(one)
    if cluster.quotas is not None:
        cluster.quotas.settle(found.results, found.charges)
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
