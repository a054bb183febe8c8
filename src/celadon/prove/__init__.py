"""Proofs about policies: expressions evaluated while their inputs are not known.

    prover = Prover(policy)
    for endpoint in prover.endpoints():
        prover.reply(endpoint, 0, Question.FAILS)    # no: proved; yes: with a request

Needs the solver z3 (`celadon[prove]`); nothing else of Celadon but `celadon prove` depends on this
room. Read `symbolic_values` first (what an expression comes to), then `symbolic_evaluator`,
`symbolic_objects` (inputs by their schema) and `policy_questions`.
"""

from celadon.prove.mutant_equivalence import (
    BoundPolicy,
    Mutant,
    MutantAnswer,
    RefusedRequest,
    TellingRequests,
)
from celadon.prove.policy_differences import (
    Comparison,
    Differences,
    Direction,
    Example,
    Finding,
    Judgement,
    Side,
    judged,
)
from celadon.prove.policy_properties import Properties, Property, Standard, Subject
from celadon.prove.policy_questions import Answer, Prover, Question, Reply
from celadon.prove.redundant_parts import BoundParts, Fault, Part, Superfluous
from celadon.prove.symbolic_decisions import Gap
from celadon.prove.symbolic_requests import ANYBODY, Endpoint, KnownKinds

__all__ = [
    "ANYBODY",
    "Answer",
    "BoundParts",
    "BoundPolicy",
    "Comparison",
    "Differences",
    "Direction",
    "Endpoint",
    "Example",
    "Fault",
    "Finding",
    "Gap",
    "Judgement",
    "KnownKinds",
    "Mutant",
    "MutantAnswer",
    "Part",
    "Properties",
    "Property",
    "Prover",
    "Question",
    "RefusedRequest",
    "Reply",
    "Side",
    "Standard",
    "Subject",
    "Superfluous",
    "TellingRequests",
    "judged",
]
