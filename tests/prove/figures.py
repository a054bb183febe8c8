"""What is decided of policies in files, and in what processor time: figures for the bars of proofs.

    python -m tests.prove.figures questions --count 0 PATH...    # celadon prove, one by one
    python -m tests.prove.figures mutants --count 200 --objects 10000 PATH...
    python -m tests.prove.figures definitions PATH...            # rules of definitions

Definitions among the files are of kinds that policies may ask about. The Pod Security Standards are
asked about with the policies.
"""

from __future__ import annotations

import argparse
import collections
import statistics
import sys
import time
from collections.abc import Sequence
from random import Random

from celadon.admission import decode_policy
from celadon.cli.policytest.case_results import plain_document
from celadon.cli.policytest.mutants.policy_mutants import alterations
from celadon.cli.reading.documents import Document, read_documents
from celadon.kube import JsonObject, metadata
from celadon.kube.releases import answering_as
from celadon.prove import (
    Answer,
    BoundPolicy,
    Finding,
    KnownKinds,
    Mutant,
    Prover,
    Question,
    Standard,
)
from celadon.prove.definitions import DefinitionProver, Transitions
from tests.prove.test_mutant_equivalence import bound, told_apart

STANDARDS = [Standard(level, 36) for level in ("baseline", "restricted")]
RELEASE = "1.36"


class Tally:
    """What came of questions, and how long each took of the processor."""

    def __init__(self) -> None:
        self.answers = collections.Counter[str]()
        self.reasons = collections.Counter[str]()
        self.seconds: list[float] = []

    def add(self, begun: float, answer: str, reason: str, about: str) -> None:
        taken = time.process_time() - begun
        self.answers[answer] += 1
        self.seconds.append(taken)
        if reason:
            self.reasons[reason] += 1
        sys.stdout.write(f"{taken:6.2f} s  {answer:22} {about} {reason}\n")
        sys.stdout.flush()

    def show(self, *undecided: str) -> None:
        asked = sum(self.answers.values())
        decided = asked - sum(self.answers[one] for one in undecided)
        middle, most = statistics.median(self.seconds), max(self.seconds)
        sys.stdout.write(
            f"{dict(self.answers)}\ndecided {decided} of {asked} ({decided / asked:.1%}),"
            f" median {middle:.2f} s, longest {most:.2f} s\n"
        )
        for reason, count in self.reasons.most_common(40):
            sys.stdout.write(f"{count:4} {reason}\n")


def read(paths: Sequence[str]) -> tuple[list[Document], list[JsonObject]]:
    """Policies (of two with the same text one), and definitions."""
    policies: dict[str, Document] = {}
    definitions: list[JsonObject] = []
    for one in read_documents(paths):
        if isinstance(one, Document) and one.is_definition:
            definitions.append(one.value)
        elif isinstance(one, Document) and one.value["kind"] == "ValidatingAdmissionPolicy":
            policies.setdefault(str(one.value["spec"]), one)
    standards = (plain_document(one.asked(), str(one)) for one in STANDARDS if policies)
    return [*policies.values(), *standards], definitions


def questions(paths: Sequence[str], seconds: int, count: int, seed: int) -> None:
    """So many of all that can be asked, chosen at random; all of them for 0."""
    policies, definitions = read(paths)
    kinds = KnownKinds.of(definitions)
    provers = [
        Prover(decode_policy(one.value).value, seconds=seconds, kinds=kinds) for one in policies
    ]
    every = [
        (document, prover, endpoint, index, question)
        for document, prover in zip(policies, provers, strict=True)
        for endpoint in prover.endpoints()
        for index in range(len(document.value["spec"]["validations"]))
        for question in (Question.FAILS, Question.REFUSES, Question.ADMITS)
    ]
    sys.stdout.write(f"{len(every)} questions about {len(policies)} policies\n")
    tally = Tally()
    chosen = Random(seed).sample(every, min(count, len(every))) if count else every
    for document, prover, endpoint, index, question in chosen:
        begun = time.process_time()
        reply = prover.reply(endpoint, index, question)
        about = f"{metadata.name(document.value)} [{index}] {endpoint} {question.value}"
        tally.add(begun, reply.answer.value, reply.reason, about)
    tally.show(Answer.UNKNOWN.value)


def mutants(paths: Sequence[str], seconds: int, count: int, objects: int, seed: int) -> None:
    policies, definitions = read(paths)
    random = Random(seed)
    every = [
        (document, one)
        for document in policies
        for one in alterations([document])
        if one.altered is not None
    ]
    sys.stdout.write(f"{len(every)} mutants of {len(policies)} policies\n")
    tally = Tally()
    for number, (document, one) in enumerate(random.sample(every, min(count, len(every)))):
        original = bound(document.value)
        altered = BoundPolicy(one.altered, original.bindings)  # type: ignore[arg-type]
        begun = time.process_time()
        answer = Mutant(
            original, altered, RELEASE, seconds=seconds, definitions=definitions
        ).answer()
        about = f"{metadata.name(document.value)} {one.field} {one.text}".replace("\n", " ")
        tally.add(begun, answer.finding.value, "; ".join(answer.reasons), about)
        if answer.finding in (Finding.SAME, Finding.BOUNDED) and objects:
            kinds = KnownKinds.of(definitions)
            told = told_apart(original, altered, Random(number), objects, kinds)
            sys.stdout.write(f"          {'alike' if told is None else f'TOLD APART: {told}'}\n")
    tally.show(Finding.UNDECIDED.value)


def rules(paths: Sequence[str], seconds: int) -> None:
    _, definitions = read(paths)
    tally = Tally()
    for definition in definitions:
        prover = DefinitionProver(definition, RELEASE, seconds=seconds)
        asked: list[object] = []
        for kind in prover.kinds.values():
            if kind.schema in asked:
                continue
            asked.append(kind.schema)
            begun = time.process_time()
            for reply in prover.replies(kind):
                about = f"{kind.gvk} {reply.node.text} [{reply.index}] {reply.question.value}"
                tally.add(begun, reply.answer.value, reply.reason, about)
                begun = time.process_time()
            with answering_as(RELEASE):
                for change in Transitions(kind, RELEASE, seconds=seconds).replies():
                    about = f"{kind.gvk} {change.subject.text} {change.change.value}"
                    tally.add(begun, change.answer.value, change.reason, about)
                    begun = time.process_time()
    tally.show(Answer.UNKNOWN.value)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("figure", choices=("questions", "mutants", "definitions"))
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--objects", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.figure == "questions":
        questions(given.paths, given.seconds, given.count, given.seed)
    elif given.figure == "mutants":
        mutants(given.paths, given.seconds, given.count, given.objects, given.seed)
    else:
        rules(given.paths, given.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
