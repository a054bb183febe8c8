"""Proofs about CustomResourceDefinitions: what their rules can do, whether fields that are called
immutable are, and whether a new revision makes stored objects invalid.

Read `symbolic_custom_objects` first (an object by its structural schema), then `symbolic_rules`
(rules over such objects), then the questions: `rule_questions` and `revision_compatibility`.
"""

from celadon.prove.definitions.revision_compatibility import Demand, RevisionReply, Revisions
from celadon.prove.definitions.rule_questions import (
    Change,
    ChangeReply,
    DefinitionProver,
    RuleQuestion,
    RuleReply,
    Transitions,
)
from celadon.prove.definitions.symbolic_rules import Node as RuleNode
from celadon.prove.definitions.symbolic_rules import schema_path

__all__ = [
    "Change",
    "ChangeReply",
    "DefinitionProver",
    "Demand",
    "RevisionReply",
    "Revisions",
    "RuleNode",
    "RuleQuestion",
    "RuleReply",
    "Transitions",
    "schema_path",
]
