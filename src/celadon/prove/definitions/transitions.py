"""Whether a field that a rule calls immutable is.

A rule compares a field with what it was (`self.size == oldSelf.size`). Of each such field it is
asked whether an update can change it, and whether it can be removed, and then be added with another
value: a rule is not asked where there is nothing to compare with.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import z3

from celadon.cel import syntax
from celadon.kube import Json, JsonObject
from celadon.kube.crd import OLD_SELF, SELF, CustomKind
from celadon.kube.schemas import Schema, escape
from celadon.prove.definitions.rule_looks import (
    DefinitionLook,
    Node,
    nodes,
    path_text,
    same_name,
)
from celadon.prove.definitions.structural_values import Steps, StructuralObject
from celadon.prove.functions import equal
from celadon.prove.logic import Formula, both, either, negated
from celadon.prove.objects import ITEMS, Inputs
from celadon.prove.questions import Answer, proved_with, with_enough_items
from celadon.prove.unmodelled import Unmodelled
from celadon.prove.values import NotModelled, Outcome


class Change(enum.Enum):
    """A change of a field that is said to be immutable."""

    CHANGED = "can be changed"
    REMOVED = "can be removed"
    REPLACED = "can be removed and added again"


class Subject(NamedTuple):
    """A field that a rule compares with what it was. `is_claimed` if the rule says that it is
    immutable."""

    node: Node
    rule: int
    names: tuple[str, ...]
    steps: Steps
    is_claimed: bool

    @property
    def text(self) -> str:
        """`spec.size`."""
        return path_text(self.names)


@dataclass(frozen=True, slots=True)
class ChangeReply:
    """An answer about a field: for a yes with the objects before and after each update."""

    kind: CustomKind
    subject: Subject
    change: Change
    answer: Answer
    objects: tuple[JsonObject, ...] = ()
    reason: str = ""
    bounded: tuple[str, ...] = ()
    items: int = ITEMS

    @property
    def is_finding(self) -> bool:
        """Return whether it is not as the rule says. A field that is only removed may be meant to
        be."""
        return (
            self.subject.is_claimed
            and self.answer is Answer.YES
            and self.change is not Change.REMOVED
        )


_IMMUTABLE: Final = re.compile(
    r"immutable|(can ?not|can't|must not|may not|not) be (changed|modified|updated|altered)"
    r"|(can ?not|can't|must not|may not) change",
    re.IGNORECASE,
)
_UNCHANGED: Final = "self==oldSelf"


def subjects(kind: CustomKind) -> Iterator[Subject]:
    """The fields that the rules of a kind compare with what they were."""
    for node in nodes(kind):
        for index, rule in enumerate(node.rules):
            if rule.rule is None or not rule.uses_old_self:
                continue
            # A rule is taken for the promise that a field is immutable if it compares it as a
            # whole, or if its message says so; of others, changes are no finding.
            text = "".join(rule.source.rule.split())
            is_claimed = text == _UNCHANGED or bool(_IMMUTABLE.search(rule.source.message))
            for chain in dict.fromkeys(_compared(rule.rule.program.checked.root)):
                names = _named(node.schema, chain)
                if names is not None:
                    steps = (*node.steps, *names)
                    yield Subject(node, index, (*node.names, *names), steps, is_claimed)


def _compared(root: syntax.Expr) -> Iterator[tuple[str, ...]]:
    """The fields of `self` that are compared with the same ones of `oldSelf`."""
    waiting: list[Any] = [root]
    while waiting:
        one = waiting.pop()
        if isinstance(one, syntax.Call) and one.function == syntax.EQUALS:
            chains = dict(filter(None, map(_chain, one.args)))
            if SELF in chains and chains.get(OLD_SELF) == chains[SELF]:
                yield chains[SELF]
        # Reversed, so that the fields come in the order in which the expression names them.
        waiting += reversed(list(_below(one)))


def _below(node: syntax.Expr) -> Sequence[syntax.Expr]:
    """Return the parts of an expression that are always evaluated: not the inside of loops, whose
    fields are others."""
    match node:
        case syntax.Call():
            return node.args if node.target is None else (node.target, *node.args)
        case syntax.Select():
            return (node.operand,)
    return ()


def _chain(node: syntax.Expr) -> tuple[str, tuple[str, ...]] | None:
    """A variable and the fields behind it; what an optional holds is the variable's value."""
    names: list[str] = []
    while isinstance(node, syntax.Select) and not node.test_only:
        names.append(node.field)
        node = node.operand
    if isinstance(node, syntax.Call) and node.function == "value" and node.target is not None:
        node = node.target
    return (node.name, tuple(reversed(names))) if isinstance(node, syntax.Ident) else None


def _named(schema: Schema, chain: tuple[str, ...]) -> tuple[str, ...] | None:
    """The fields as the schema calls them; None if it does not know one."""
    found = []
    for one in chain:
        name = next((each for each in schema.properties if one in (each, escape(each))), None)
        if name is None:
            return None
        found.append(name)
        schema = schema.properties[name]
    return tuple(found)


@dataclass(slots=True)
class Transitions:
    """Answers for one kind; `items` and `seconds` as for rules."""

    kind: CustomKind
    version: str
    items: int = ITEMS
    seconds: float = 10

    def replies(self) -> Iterator[ChangeReply]:
        """The answers about all fields that are compared."""
        for subject in subjects(self.kind):
            yield self.reply(subject, Change.CHANGED)
            if not all(isinstance(step, str) for step in subject.steps):
                continue  # items come and go
            removed = self.reply(subject, Change.REMOVED)
            yield removed
            # A rule with `oldSelf` is not asked where there was nothing before: who can remove a
            # field can add another in two steps.
            if removed.answer is not Answer.NO:
                yield self.reply(subject, Change.REPLACED)

    def reply(self, subject: Subject, change: Change) -> ChangeReply:
        """One answer."""

        def ask(inputs: Inputs) -> tuple[ChangeReply, Unmodelled]:
            look = _ChangeLook(self.kind, inputs, self.version, self.seconds)
            return look.reply(subject, change), look.unmodelled

        return with_enough_items(self.items, ask)


@dataclass(slots=True)
class _ChangeLook(DefinitionLook):
    """One question: an object, and what it is after one update or two."""

    history: list[StructuralObject] = field(default_factory=list)

    def reply(self, subject: Subject, change: Change) -> ChangeReply:
        """The answer."""
        made = ChangeReply(self.kind, subject, change, Answer.UNKNOWN)
        try:
            wanted = self.wanted(subject, change)
        except NotModelled as error:
            return replace(made, reason=str(error))
        found = self.search(wanted, self.confirmed)
        if found.is_proved:
            answer, bounded, items = proved_with(self.inputs)
            return replace(made, answer=answer, bounded=bounded, items=items)
        if found.example is None:
            return replace(made, reason=found.reason)
        return replace(made, answer=Answer.YES, objects=found.example)

    def wanted(self, subject: Subject, change: Change) -> Formula:
        """Return the formula that an example has to fulfil. Raises NotModelled."""
        titles = ["oldObject", "object"]
        if change is Change.REPLACED:
            titles.insert(1, "between")
        self.history = [StructuralObject(self.inputs, self.kind, one) for one in titles]
        first, last = self.history[0], self.history[-1]
        # Updates do not change the name, which rules may read.
        for one in self.history[1:]:
            self.inputs.assumed.append(same_name(first, one))
        was_there, was = first.at(subject.steps)
        there, value = last.at(subject.steps)
        found = [was_there]
        if change is Change.CHANGED:
            there, was = last.before(subject.steps, first)
            found = [there, last.at(subject.steps)[0], _differ(value, was)]
        elif change is Change.REMOVED:
            found.append(negated(there))
        else:
            between, _ = self.history[1].at(subject.steps)
            found += [negated(between), there, _differ(value, was)]
        for number, one in enumerate(self.history):
            one.finish()
            old = self.history[number - 1] if number else None
            found += self.rules_hold(one, old)
        return both(*found)

    def confirmed(self, model: z3.ModelRef) -> tuple[JsonObject, ...] | None:
        """The objects of a model, if validation takes each of them after the one before."""
        objects = tuple(one.json(model) for one in self.history)
        before: dict[str, Json] | None = None
        for one in objects:
            prepared = self.kind.prepare(dict(one)).value
            if self.kind.validate(prepared, before).errors:
                return None
            before = prepared
        return objects


def _differ(one: Outcome, other: Outcome) -> Formula:
    return negated(
        either(
            both(a.guard, b.guard, equal(a.value, b.value)) for a in one.cases for b in other.cases
        )
    )
