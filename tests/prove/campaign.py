"""Claims about random policies and their mutants, each tried on random and boundary objects, which
the engine decides.

    python -m tests.prove.campaign FIRST COUNT --objects 10000
    python -m tests.prove.campaign FIRST COUNT --requests       # about more than the object
    python -m tests.prove.campaign FIRST COUNT --of PATH...     # of the policies in files

What is claimed: that a validation never fails, refuses or admits; that a part changes nothing; that
validations admit nothing together; that two policies are the same, or one is not looser.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from random import Random
from typing import Final, NamedTuple, TypeAlias

from celadon.admission import Action, Cause, Engine, ObjectWorld, Request, decode_policy
from celadon.cli.policytest.case_results import plain_document
from celadon.cli.policytest.mutants.policy_mutants import alterations
from celadon.cli.reading.documents import Document, read_documents
from celadon.kube import JsonObject
from celadon.prove import Answer, KnownKinds, Prover, Question, Superfluous
from celadon.prove.policy_differences import PROVED, Differences, Direction, Side, judgement_of
from celadon.prove.redundant_parts import Fault
from celadon.prove.symbolic_requests import Endpoint
from tests.prove import random_requests
from tests.prove.random_policies import DEFINITIONS, random_policy
from tests.prove.test_mutant_equivalence import (
    WORLDS,
    Boundaries,
    bound,
    engine_of,
    places,
    random_objects,
    requests,
)
from tests.prove.test_policy_differences import changed

SECONDS: Final = 4
"""For one question: what takes longer is not decided."""
MUTANTS: Final = 3
NEVER: Final = (Answer.NO, Answer.BOUNDED)


class Said(NamedTuple):
    """What a policy says of one request."""

    allowed: bool
    rank: tuple[bool, bool, bool]
    against: frozenset[tuple[int | None, Cause]]
    """Which validations are against it, and why; those whose failures are ignored, too."""


IsAgainst: TypeAlias = Callable[..., bool]
"""Whether what is said of one request is against a claim, of one policy after the other."""


@dataclass
class Trial:
    """What is claimed of policies that are alike, and how many claims were tried. `against` are
    requests that the engine decides otherwise."""

    random: Random
    objects: int
    about: Sequence[JsonObject]
    """The policies: all they ask for is in the requests, which are made once."""
    kinds: KnownKinds = field(default_factory=lambda: KnownKinds.of(DEFINITIONS))
    claims: collections.Counter[str] = field(default_factory=collections.Counter)
    against: list[str] = field(default_factory=list)
    tried: dict[str, list[tuple[Request, list[JsonObject]]]] = field(default_factory=dict)
    """Requests, and the objects around them."""
    said: dict[tuple[str, str], list[Said]] = field(default_factory=dict)

    def claim(
        self, what: str, endpoint: Endpoint, documents: Sequence[JsonObject], is_against: IsAgainst
    ) -> None:
        """Try a claim about policies."""
        self.claims[what] += 1
        every = [self._said(endpoint, one) for one in documents]
        for number, said in enumerate(zip(*every, strict=True)):
            if is_against(*said):
                request, around = self._requests(endpoint)[number]
                shown = [one["spec"] for one in documents]
                found = f"{what} at {endpoint}: {request} among {around} against {shown}"
                self.against.append(found)
                return

    def _said(self, endpoint: Endpoint, document: JsonObject) -> list[Said]:
        """Return what a policy says of all requests to an endpoint."""
        key = str(endpoint), json.dumps(document, sort_keys=True)
        if key not in self.said:
            engine = self._engine(document)
            self.said[key] = [
                _said(engine, request, world)
                for around, several in itertools.groupby(self._requests(endpoint), _AROUND)
                for world in (ObjectWorld(around, catalog=self.kinds.catalog),)
                for request, _ in several
            ]
        return self.said[key]

    def _requests(self, endpoint: Endpoint) -> list[tuple[Request, list[JsonObject]]]:
        """Return requests to an endpoint, no two of them the same, the same for all claims."""
        key = str(endpoint)
        if key not in self.tried:
            engines = [self._engine(one) for one in self.about]
            boundaries = Boundaries(*engines)
            wanted = [place for one in engines for place in places(one)]
            found = self.tried[key] = []
            for _ in range(WORLDS):
                around = random_objects(engines[0], self.random, boundaries, self.kinds)
                each = -(-self.objects // WORLDS)
                made = requests(endpoint, wanted, self.random, each, boundaries, self.kinds)
                found += ((one, around) for one in {repr(one): one for one in made}.values())
        return self.tried[key]

    def _engine(self, document: JsonObject) -> Engine:
        return engine_of(bound(document, self.kinds))

    def policy(self, document: JsonObject) -> None:
        """Try what is claimed of one policy."""
        for claim in (self._validations, self._parts):
            claim(document)

    def _validations(self, document: JsonObject) -> None:
        prover = Prover(decode_policy(document).value, seconds=SECONDS, kinds=self.kinds)
        documents = [document, _refusing(document)]
        for endpoint in prover.endpoints():
            for index in range(len(document["spec"]["validations"])):
                for question in (Question.FAILS, Question.REFUSES, Question.ADMITS):
                    if prover.reply(endpoint, index, question).answer in NEVER:
                        test = _against(index, question)
                        self.claim(f"never {question.value}", endpoint, documents, test)

    def _parts(self, document: JsonObject) -> None:
        superfluous = Superfluous(document, seconds=SECONDS, kinds=self.kinds)
        for part, answers in superfluous.answers():
            if not answers or any(one.finding not in PROVED for one in answers):
                continue

            def is_against(
                more: Said, less: Said, *, one_way: bool = part.fault is Fault.CONTRADICTION
            ) -> bool:
                if one_way:
                    return not more.allowed and less.allowed
                return more.allowed != less.allowed

            for one in answers:
                about = f"{part.fault.value}: {part.path[1]}"
                self.claim(about, one.endpoint, [part.more, part.less], is_against)

    def pair(self, old: JsonObject, new: JsonObject) -> None:
        """Try what is claimed of two policies."""
        left, right = (Side(self._engine(one)) for one in (old, new))
        differences = Differences(left, right, seconds=SECONDS, kinds=self.kinds)
        for one in differences.comparisons(tuple(Direction)):
            if one.finding not in PROVED:
                self.claims[f"({one.finding.value})"] += 1
                continue

            def is_against(
                before: Said, after: Said, *, looser: bool = one.direction is Direction.LOOSER
            ) -> bool:
                return before.rank > after.rank if looser else before.rank < after.rank

            self.claim(f"not {one.direction.value}", one.endpoint, [old, new], is_against)


_AROUND: Final = itemgetter(1)


def _said(engine: Engine, request: Request, world: ObjectWorld) -> Said:
    verdict = engine.review(request, world)
    against = (
        (one.index, one.cause)
        for one in verdict.decisions
        if one.action is Action.DENY or one.cause is Cause.ERROR
    )
    return Said(verdict.allowed, judgement_of(verdict).rank, frozenset(against))


def _refusing(document: JsonObject) -> JsonObject:
    """A policy that refuses all that this one is asked about."""
    number = len(document["spec"]["validations"])
    return changed(document, failurePolicy="Ignore", validations=[{"expression": "false"}] * number)


def _against(index: int, question: Question) -> IsAgainst:
    def is_against(given: Said, asked: Said) -> bool:
        causes, wanted = (
            {cause for place, cause in one.against if place == index} for one in (given, asked)
        )
        if question is Question.ADMITS:
            return not causes and bool(wanted)
        return (Cause.ERROR if question is Question.FAILS else Cause.VALIDATION) in causes

    return is_against


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


Source: TypeAlias = Callable[[int], JsonObject]
"""A policy for each seed."""


def of_one_object(seed: int) -> JsonObject:
    """A random policy about no more than the object."""
    return random_policy(seed)[0]


def run(seeds: Sequence[int], objects: int, source: Source = of_one_object) -> Trial:
    """Random policies, each with some mutants."""
    total = Trial(Random(0), objects, [])
    for seed in seeds:
        random = Random(seed)
        document = source(seed)
        changes = list(mutants(document, random, MUTANTS))
        trial = Trial(random, objects, [document, *changes])
        trial.policy(document)
        for altered in changes:
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
    parser.add_argument("--requests", action="store_true")
    parser.add_argument("--of", nargs="*", default=())
    options = parser.parse_args()
    given = [
        one.value
        for one in read_documents(options.of)
        if isinstance(one, Document) and one.value["kind"] == "ValidatingAdmissionPolicy"
    ]
    source = of_one_object
    if given:

        def source(seed: int) -> JsonObject:
            return given[seed % len(given)]

    elif options.requests:
        source = random_requests.random_policy
    found = run(range(options.first, options.first + options.count), options.objects, source)
    sys.stdout.write(f"{dict(sorted(found.claims.items()))}\n{len(found.against)} against\n")
    return len(found.against) > 0


if __name__ == "__main__":
    sys.exit(main())
