"""Whether somebody can still take away what refuses: an administrator with kubectl.

Policies and bindings are exempt from all policies and webhooks but static ones, and configurations
of webhooks from webhooks; the engine decides that here, too. What cannot be removed at first may be
once something else has been. What a server has from its own files (static policies) nobody removes
through the API.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from celadon.admission import Operation
from celadon.admission.static import is_static
from celadon.cli.bootstrapping.bootstrap_run import Culprit, refusals_in
from celadon.cli.bootstrapping.request_bench import RequestBench
from celadon.cli.bootstrapping.step_tables import Sending, actors
from celadon.cli.checking.asking.webhook_documents import WebhookDocuments
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.policy_set import Placed, PolicySets, policy_sets
from celadon.cli.reading.documents import Document
from celadon.kube import metadata
from celadon.records import dataclass

_COMMANDS: Final = {Operation.DELETE: "delete", Operation.UPDATE: "replace"}
"""What kubectl calls the ways to take something away: to have it no more, or to have it mended."""


@dataclass(frozen=True, slots=True)
class RepairStep:
    """A command of the administrator's, and whether it is admitted; else what it is answered."""

    command: str
    admitted: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """The commands that take a culprit away, in their order; `is_open` is whether they do."""

    is_open: bool
    steps: tuple[RepairStep, ...] = ()


def repairs(
    manifests: Manifests, version: str, culprits: Iterable[Culprit]
) -> Mapping[Culprit, Repair]:
    """How each of the culprits is taken away, given all the others."""
    found: dict[Culprit, Repair] = {}
    pending = list(dict.fromkeys(culprits))
    refused: dict[Culprit, tuple[RepairStep, ...]] = {}
    gone: list[Document] = []
    while pending:
        left = _without(manifests, gone)
        sets = policy_sets(left, version)
        bench = RequestBench(left, sets, version)
        before = len(gone), len(pending) + len(found)
        for culprit in tuple(pending):
            document = _document(culprit, sets, bench.webhooks)
            if document is None:
                found[culprit] = Repair(is_open=False)
                pending.remove(culprit)
                continue
            steps, deniers = _tried(bench, document)
            pending += [one for one in deniers if one not in pending and one not in found]
            if steps[-1].admitted:
                earlier = refused.get(culprit, ())
                helped = [step for one in found.values() if earlier for step in one.steps]
                found[culprit] = Repair(is_open=True, steps=(*earlier, *helped, *steps))
                gone.append(document)
                pending.remove(culprit)
            else:
                refused.setdefault(culprit, steps)
        if before == (len(gone), len(pending) + len(found)):
            break
    for culprit in pending:
        found[culprit] = Repair(is_open=False, steps=refused.get(culprit, ()))
    return found


def _tried(
    bench: RequestBench, document: Document
) -> tuple[tuple[RepairStep, ...], tuple[Culprit, ...]]:
    """What comes of taking something away: the commands up to one that is admitted; and who is
    against it."""
    steps: list[RepairStep] = []
    deniers: list[Culprit] = []
    for operation, verb in _COMMANDS.items():
        name = f"{verb} {document.value['kind'].lower()} {metadata.name(document.value)}"
        sending = Sending(name, actors()["administrator"], operation)
        old = document if operation is Operation.UPDATE else None
        answer = bench.judged(sending, document, old, bench.world, frozenset())
        result = answer.result
        if result is not None and not result.is_refused:
            steps.append(RepairStep(f"kubectl {name}", admitted=True))
            return tuple(steps), ()
        sentence = "" if result is None else result.sentence
        steps.append(RepairStep(f"kubectl {name}", admitted=False, message=sentence))
        if result is not None:
            deniers += [one.culprit for one in refusals_in(result, bench.sets, {})]
    return tuple(steps), tuple(deniers)


def _document(culprit: Culprit, sets: PolicySets, webhooks: WebhookDocuments) -> Document | None:
    """What has to be taken away: the binding of a policy, or a configuration. None for what is no
    object, or not there any more."""
    placed: Placed[object] | None = next(_placed(culprit, sets, webhooks), None)
    return None if placed is None else placed.document


def _placed(
    culprit: Culprit, sets: PolicySets, webhooks: WebhookDocuments
) -> Iterator[Placed[object]]:
    if culprit.kind.endswith("WebhookConfiguration"):
        one = webhooks.of(mutating=culprit.kind.startswith("Mutating")).get(culprit.name)
        if one is not None and not is_static(one.value):
            yield Placed(one.value, one.document)
        return
    part = sets.mutating if culprit.kind.startswith("Mutating") else sets.validating
    for found in (part.bindings.get(culprit.binding), part.policies.get(culprit.name)):
        if found is not None and not is_static(found.value):
            yield Placed(found.value, found.document)


def _without(manifests: Manifests, gone: Sequence[Document]) -> Manifests:
    hidden = {id(one) for one in gone}

    def left(documents: Sequence[Document]) -> list[Document]:
        return [one for one in documents if id(one) not in hidden]

    return replace(
        manifests,
        bindings=left(manifests.bindings),
        policies=left(manifests.policies),
        mutating_bindings=left(manifests.mutating_bindings),
        mutating_policies=left(manifests.mutating_policies),
        looked_up=left(manifests.looked_up),
        problems=[],
    )
