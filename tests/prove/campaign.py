"""Claims about random policies and their mutants, each tried on random and boundary objects, which
the engine decides.

    python -m tests.prove.campaign FIRST COUNT --objects 10000
    python -m tests.prove.campaign FIRST COUNT --of PATH...     # of the policies in files

What is claimed: that a validation never fails, refuses or admits; that a part changes nothing; that
validations admit nothing together; that two policies are the same, or one is not looser.
"""

from __future__ import annotations

import argparse
import collections
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from celadon.admission import (
    Action,
    Cause,
    Engine,
    ObjectWorld,
    Request,
    decode_policy,
)
from celadon.cli.policytest.case_results import plain_document
from celadon.cli.policytest.mutants.policy_mutants import alterations
from celadon.cli.reading.documents import Document, read_documents
from celadon.kube import JsonObject
from celadon.prove import Answer, KnownKinds, Prover, Question, Superfluous
from celadon.prove.differences import PROVED, Differences, Direction, Side, judged
from celadon.prove.parts import Fault
from celadon.prove.requests import Endpoint
from tests.prove.random_policies import DEFINITIONS, random_policy
from tests.prove.test_differences import changed
from tests.prove.test_mutants import Boundaries, bound, engine_of, places, random_world, requests

SECONDS: Final = 4
"""For one question: what takes longer is not decided."""
NEVER: Final = (Answer.NO, Answer.BOUNDED)


@dataclass
class Trial:
    """What is claimed of a policy, or a pair of policies, and how many claims were tried. `against`
    are requests that the engine decides otherwise."""

    random: Random
    objects: int
    kinds: KnownKinds = field(default_factory=lambda: KnownKinds.of(DEFINITIONS))
    claims: collections.Counter[str] = field(default_factory=collections.Counter)
    against: list[str] = field(default_factory=list)
    about: list[Engine] = field(default_factory=list)
    tried: dict[str, tuple[ObjectWorld, list[Request]]] = field(default_factory=dict)

    def claim(
        self,
        what: str,
        endpoint: Endpoint,
        documents: Sequence[JsonObject],
        is_against: Callable[[Request, ObjectWorld], bool],
    ) -> None:
        """Try a claim about policies."""
        self.claims[what] += 1
        world, tried = self._requests(endpoint)
        for request in tried:
            if is_against(request, world):
                shown = [one["spec"] for one in documents]
                self.against.append(f"{what} at {endpoint}: {request} against {shown}")
                return

    def _requests(self, endpoint: Endpoint) -> tuple[ObjectWorld, list[Request]]:
        """Return requests to an endpoint, the same for all claims about the same policies."""
        key = str(endpoint)
        if key not in self.tried:
            boundaries = Boundaries(*self.about)
            wanted = [place for one in self.about for place in places(one)]
            world = random_world(self.about[0], self.random, boundaries, self.kinds)
            made = requests(endpoint, wanted, self.random, self.objects, boundaries, self.kinds)
            self.tried[key] = world, list(made)
        return self.tried[key]

    def policy(self, document: JsonObject) -> None:
        """Try what is claimed of one policy."""
        self._ask_about(document)
        for claim in (self._validations, self._parts):
            claim(document)

    def _ask_about(self, *documents: JsonObject) -> None:
        self.about = [engine_of(bound(one, self.kinds)) for one in documents]
        self.tried = {}

    def _validations(self, document: JsonObject) -> None:
        prover = Prover(decode_policy(document).value, seconds=SECONDS, kinds=self.kinds)
        engine = engine_of(bound(document, self.kinds))
        asked = engine_of(bound(_refusing(document), self.kinds))
        for endpoint in prover.endpoints():
            for index in range(len(document["spec"]["validations"])):
                for question in (Question.FAILS, Question.REFUSES, Question.ADMITS):
                    if prover.reply(endpoint, index, question).answer in NEVER:
                        test = _against(engine, asked, index, question)
                        self.claim(f"never {question.value}", endpoint, [document], test)

    def _parts(self, document: JsonObject) -> None:
        superfluous = Superfluous(document, seconds=SECONDS, kinds=self.kinds)
        for part, answers in superfluous.answers():
            if not answers or any(one.finding not in PROVED for one in answers):
                continue
            engines = [engine_of(bound(one, self.kinds)) for one in (part.more, part.less)]

            def is_against(
                request: Request,
                world: ObjectWorld,
                engines: list[Engine] = engines,
                *,
                one_way: bool = part.fault is Fault.CONTRADICTION,
            ) -> bool:
                more, less = (not one.review(request, world).allowed for one in engines)
                return more and not less if one_way else more != less

            for one in answers:
                about = f"{part.fault.value}: {part.path[1]}"
                self.claim(about, one.endpoint, [part.more, part.less], is_against)

    def pair(self, old: JsonObject, new: JsonObject) -> None:
        """Try what is claimed of two policies."""
        self._ask_about(old, new)
        left, right = sides = [Side(one) for one in self.about]
        differences = Differences(left, right, seconds=SECONDS, kinds=self.kinds)
        for one in differences.comparisons(tuple(Direction)):
            if one.finding not in PROVED:
                self.claims[f"({one.finding.value})"] += 1
                continue
            sign = 1 if one.direction is Direction.LOOSER else -1

            def is_against(request: Request, world: ObjectWorld, sign: int = sign) -> bool:
                before, after = (judged(side.engine, request, world).rank for side in sides)
                return before > after if sign == 1 else before < after

            self.claim(f"not {one.direction.value}", one.endpoint, [old, new], is_against)


def _refusing(document: JsonObject) -> JsonObject:
    """A policy that refuses all that this one is asked about."""
    number = len(document["spec"]["validations"])
    return changed(document, failurePolicy="Ignore", validations=[{"expression": "false"}] * number)


def _against(
    engine: Engine, asked: Engine, index: int, question: Question
) -> Callable[[Request, ObjectWorld], bool]:
    def is_against(request: Request, world: ObjectWorld) -> bool:
        causes = _causes(engine, index, request, world)
        if question is Question.ADMITS:
            return not causes and bool(_causes(asked, index, request, world))
        return (Cause.ERROR if question is Question.FAILS else Cause.VALIDATION) in causes

    return is_against


def _causes(engine: Engine, index: int, request: Request, world: ObjectWorld) -> set[Cause]:
    """What a validation has against a request; a policy that ignores failures says them, too."""
    verdict = engine.review(request, world)
    return {
        one.cause
        for one in verdict.decisions
        if one.index == index and (one.action is Action.DENY or one.cause is Cause.ERROR)
    }


def mutants(document: JsonObject, random: Random, number: int) -> Iterator[JsonObject]:
    """So many mutants, of which each second one is a mutant of the one before."""
    given = document
    for turn in range(number):
        plain = plain_document(given, "random.yaml")
        every = [one.altered for one in alterations([plain]) if one.altered is not None]
        if not every:
            return
        altered = random.choice(every)
        yield altered
        given = altered if turn % 2 == 0 else document


def run(seeds: Sequence[int], objects: int, given: Sequence[JsonObject] = ()) -> Trial:
    """Random policies, or those that are given, each with some mutants."""
    total = Trial(Random(0), objects)
    for seed in seeds:
        random = Random(seed)
        document = given[seed % len(given)] if given else random_policy(seed)[0]
        trial = Trial(random, objects)
        trial.policy(document)
        for altered in mutants(document, random, 3):
            trial.pair(document, altered)
        total.claims += trial.claims
        sys.stderr.write(f"{seed}: {sum(trial.claims.values())} claims\n")
        total.against += (f"{seed}: {one}" for one in trial.against)
        for one in trial.against:
            sys.stdout.write(f"{seed}: {one}\n")
            sys.stdout.flush()
    return total


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--objects", type=int, default=10_000)
    parser.add_argument("--of", nargs="*", default=())
    options = parser.parse_args()
    given = [
        one.value
        for one in read_documents(options.of)
        if isinstance(one, Document) and one.value["kind"] == "ValidatingAdmissionPolicy"
    ]
    found = run(range(options.first, options.first + options.count), options.objects, given)
    sys.stdout.write(f"{dict(sorted(found.claims.items()))}\n{len(found.against)} against\n")
    return len(found.against) > 0


if __name__ == "__main__":
    sys.exit(main())
