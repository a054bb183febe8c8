"""Proofs about policies: expressions evaluated while their inputs are not known.

    prover = Prover(policy)
    for endpoint in prover.endpoints():
        prover.reply(endpoint, 0, Question.FAILS)    # no: proved; yes: with a request

Needs the solver z3 (`celadon[prove]`); nothing else of Celadon but `celadon prove` depends on this
room. Read `values` first (what an expression comes to), then `evaluator`, `objects` (inputs by
their schema) and `questions`.
"""

from celadon.prove.decisions import Gap
from celadon.prove.definitions.revisions import Demand, RevisionReply, Revisions
from celadon.prove.definitions.rule_looks import Node as RuleNode
from celadon.prove.definitions.rule_looks import schema_path
from celadon.prove.definitions.rule_questions import DefinitionProver, RuleQuestion, RuleReply
from celadon.prove.definitions.transitions import ChangeReply, Transitions
from celadon.prove.differences import (
    Comparison,
    Differences,
    Direction,
    Example,
    Finding,
    Judgement,
    Side,
    judged,
)
from celadon.prove.parts import Part, Superfluous
from celadon.prove.pod_standards import Standard
from celadon.prove.properties import Properties, Property, Subject
from celadon.prove.questions import Answer, Prover, Question, Reply
from celadon.prove.requests import Endpoint

__all__ = [
    "Answer",
    "ChangeReply",
    "Comparison",
    "DefinitionProver",
    "Demand",
    "Differences",
    "Direction",
    "Endpoint",
    "Example",
    "Finding",
    "Gap",
    "Judgement",
    "Part",
    "Properties",
    "Property",
    "Prover",
    "Question",
    "Reply",
    "RevisionReply",
    "Revisions",
    "RuleNode",
    "RuleQuestion",
    "RuleReply",
    "Side",
    "Standard",
    "Subject",
    "Superfluous",
    "Transitions",
    "judged",
    "schema_path",
]
