"""The main job: documents to a `Report`.

In order: the cluster that the files describe (`given_cluster`), what becomes of each document
(`object_judging`), and what all that means to a reader (here). At the end `notices` looks for
everything that went by without a word.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from celadon.admission import ObjectWorld
from celadon.cli.check.check_options import CheckInputs
from celadon.cli.check.check_report import Report
from celadon.cli.check.cluster import ANEW, Cluster, EngineMakers, cluster_of, engines_of
from celadon.cli.check.document_requests import identity
from celadon.cli.check.manifests import webhook_documents
from celadon.cli.check.notices import Findings, Sightings, notices, unasked
from celadon.cli.check.object_chain import AnsweredWebhooks
from celadon.cli.check.object_judging import Judge, JudgedObject
from celadon.cli.check.plugins import unasked_plugins
from celadon.cli.check.webhook_answers import AnswerSettings, answer_source
from celadon.cli.processes import possible_workers, received, started
from celadon.cli.reading.documents import Document, DocumentArchive

# --- Parallel judging --------------------------------------------------------
#
# Judging in several processes at once, with the answers of one.
#
# Blocks of an archive are judged one after the other, or by forks of this process, which know
# all that it knows: worker k of n takes the blocks k, k + n, k + 2n, ... and writes what it
# finds to a pipe. It is read in the order of the blocks, so nobody can tell how many were at
# work. What a worker owes that has ended before its time (somebody has killed it) is judged
# here.

Judged = Callable[[Sequence[Document], Callable[[], None]], Findings]
"""What comes of some documents; is to tell when it is done with one."""


def workers_for(archive: DocumentArchive, workers: int) -> int:
    """Return how many processes judge: as many as wanted, or as there are processors (0); but no
    more than there are blocks, and one where processes cannot fork."""
    return max(1, min(possible_workers(workers), archive.blocks))


def judged_in_order(
    judged: Judged, archive: DocumentArchive, workers: int, tick: Callable[[], None]
) -> Generator[Findings, None, None]:
    """Yield what comes of each block, in their order. `tick` is called for each document."""
    if workers == 1:
        for number in range(archive.blocks):
            yield judged(archive.block(number), tick)
        return
    with ExitStack() as stack:
        pipes = [
            started(functools.partial(_blocks, judged, archive, first, workers), stack)
            for first in range(workers)
        ]
        for number in range(archive.blocks):
            # Blocks are dealt out in turn and taken back in turn, so results are in the order of
            # the documents without any of them waiting in this process.
            findings: Findings | None = received(pipes[number % workers])
            # The fork is gone (out of memory, for instance): its block is judged here instead.
            if findings is None:
                yield judged(archive.block(number), tick)
                continue
            for _ in range(findings.documents):
                tick()
            yield findings


def _blocks(
    judged: Judged, archive: DocumentArchive, first: int, workers: int
) -> Iterator[Findings]:
    """Yield what comes of a block and of every so many behind it."""
    for number in range(first, archive.blocks, workers):
        yield judged(archive.block(number), lambda: None)


def check(
    inputs: CheckInputs,
    step: Callable[[int], None],
    look: Callable[[JudgedObject], None] | None = None,
    makers: EngineMakers = ANEW,
) -> Report:
    """Judges every document that is to be admitted. `step` is told how many are done; whoever has
    to `look` on is told of each, in this process."""
    manifests, settings = inputs.manifests, inputs.settings
    choice = settings.asked_plugins
    engines = engines_of(inputs.policies, settings.version, makers)
    cluster = cluster_of(
        manifests, engines, settings.circumstances, asks_plugins=choice is not None
    )
    # Configurations count as existing, whether or not they are to be admitted, too: in a cluster
    # they would be there when the next object comes.
    documents = webhook_documents(manifests.existing, settings.version)
    with (
        _converting(cluster, settings.webhooks, settings.version) as cluster,
        answer_source(settings.webhooks, cluster.world, documents.names) as source,
    ):
        webhooks = AnsweredWebhooks.of(documents, settings.version, source.answers, source.as_json)
        cluster = replace(cluster, webhooks=webhooks, looks=look is not None)
        report = _judged(inputs, cluster, step, look)
    return replace(
        report,
        webhooks=documents.count,
        policy_errors=(*report.policy_errors, *documents.errors),
        notices=(*report.notices, *unasked(report.objects), *source.notices),
        # A file can be met twice, as a RESOURCE and below a folder of `-f`; what is wrong with it
        # is said once.
        problems=tuple(dict.fromkeys((*cluster.problems, *source.problems, *report.problems))),
        needs_answers=settings.webhooks.asks,
        plugins=() if choice is None else choice.asked,
    )


@contextmanager
def _converting(cluster: Cluster, settings: AnswerSettings, version: str) -> Iterator[Cluster]:
    """Yield the cluster, with its conversion webhooks where they are called."""
    if not settings.converts or not isinstance(cluster.world, ObjectWorld):
        yield cluster
        return
    from celadon.cli.check.conversion_calls import converting  # late: it loads what waits

    with converting(cluster.world, settings.services, version) as world:
        yield replace(cluster, world=world)


def _judged(
    inputs: CheckInputs,
    cluster: Cluster,
    step: Callable[[int], None],
    look: Callable[[JudgedObject], None] | None,
) -> Report:
    """Return what becomes of the objects, and what is said about policies."""
    manifests, sets, settings = inputs.manifests, inputs.policies, inputs.settings
    # `kubectl apply` updates what it finds. Without it an object of `-f` is only looked up, and a
    # RESOURCE of the same name is created in its place.
    old = (*manifests.looked_up, *manifests.old) if settings.question.applies else manifests.old
    olds = {identity(document, settings.question.namespace): document for document in old}
    findings = Findings(Sightings.wanted(sets))
    judge = Judge.of(cluster, settings, olds, findings, look)
    done = itertools.count(1)
    # whoever has to be asked or told about one object after the other is in this process
    alone = cluster.webhooks is None and look is None
    workers = workers_for(manifests.admitted, settings.jobs) if alone else 1
    for item in judged_in_order(
        judge.judged, manifests.admitted, workers, lambda: step(next(done))
    ):
        findings.add(item)
    if cluster.quotas is not None:
        cluster.quotas.settle(findings.results, findings.charges)
    if findings.sightings.any:
        findings.mutations.count_silent(sets.mutating)
    mutations = findings.mutations if settings.defaulting else None
    operation = None if settings.question.applies else settings.question.operation
    policy_notices = notices(
        manifests, sets, operation, findings.sightings, mutations, findings.coverage
    )
    return Report(
        objects=tuple(findings.results),
        policies=sum(len(policy_set.policies) for policy_set in sets.all),
        bindings=sum(len(policy_set.bindings) for policy_set in sets.all),
        policy_errors=tuple(error for policy_set in sets.all for error in policy_set.errors),
        notices=(*policy_notices, *findings.ignored.values()),
        problems=(*findings.unsendable, *findings.early_crashes, *findings.crashes),
        strict=settings.strict,
        fail_on_warning=settings.fail_on_warning,
        unasked_plugins=unasked_plugins(settings.asked_plugins, findings.unasked),
    )
