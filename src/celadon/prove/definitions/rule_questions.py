"""The questions about the validation rules of a CustomResourceDefinition, their answers, and proofs
that fields which they call immutable are.

Of each rule it is asked whether it can be an error, can refuse, can admit, and whether what it
refuses is refused by its neighbours anyway; of the rules at a place, whether any object fits them
all. "No" is a proof for all objects that the schema admits. "Yes" comes with an object (with two,
where a rule compares), and only after validation itself has found that it is so.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import z3

from celadon.cel import EvaluationError, syntax
from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.kube.crd import OLD_SELF, SELF, CompiledRule, CustomKind, EvaluatedRule, custom_kinds
from celadon.kube.releases import answering_as
from celadon.kube.schemas import Schema, escape
from celadon.prove.definitions import symbolic_rules
from celadon.prove.definitions.symbolic_custom_objects import Steps, StructuralObject
from celadon.prove.example_search import Claim
from celadon.prove.policy_questions import Answer, is_blank, proved_with, with_enough_items
from celadon.prove.solver_terms import TRUE, Formula, both, either, negated
from celadon.prove.symbolic_functions import equal
from celadon.prove.symbolic_objects import ITEMS, Inputs
from celadon.prove.symbolic_values import NotModelled, Outcome, Text, is_false, is_true
from celadon.prove.uninterpreted_functions import Unmodelled


class RuleQuestion(enum.Enum):
    """Names a question about a rule; `FITS` is asked of all rules at a place together."""

    FAILS = "can fail"
    REFUSES = "can refuse"
    ADMITS = "can admit"
    MESSAGE = "can have no message"
    ALONE = "can refuse what the other rules admit"
    FITS = "can have a value"


@dataclass(frozen=True, slots=True)
class RuleReply:
    """Holds an answer about the rule with an `index` at a node; None for all rules at the node.

    `example` is the object for a yes, `before` what it was before the update. `reason` is why
    there is no answer, `offset` where in its expression that is. `bounded` are the lists that no
    more than `items` items were looked at of.
    """

    kind: CustomKind
    node: symbolic_rules.Node
    index: int | None
    question: RuleQuestion
    answer: Answer
    example: JsonObject | None = None
    before: JsonObject | None = None
    reason: str = ""
    offset: int | None = None
    bounded: tuple[str, ...] = ()
    items: int = ITEMS


class DefinitionProver:
    """Answers the questions about one CustomResourceDefinition as a release has it. `items` is the
    length of lists up to which is looked, if no more are needed; `seconds` is for one answer."""

    def __init__(
        self, definition: JsonObject, version: str, items: int = ITEMS, seconds: float = 10
    ) -> None:
        self._version = version
        self._items = items
        self._seconds = seconds
        with answering_as(version):
            self.kinds: Mapping[GroupVersionKind, CustomKind] = custom_kinds(definition)

    def replies(self, kind: CustomKind) -> Iterator[RuleReply]:
        """Yield all answers about one version, place by place."""
        with answering_as(self._version):
            places = symbolic_rules.nodes(kind)
        for node in places:
            for index in range(len(node.rules)):
                yield from self.of_rule(kind, node, index)
            if len(node.rules) > 1:
                yield self.of_node(kind, node)

    def of_rule(self, kind: CustomKind, node: symbolic_rules.Node, index: int) -> list[RuleReply]:
        """Return the answers about one rule."""
        rule = node.rules[index]
        if rule.rule is None:
            reason = rule.error or "an empty rule"
            fails = RuleQuestion.FAILS
            return [RuleReply(kind, node, index, fails, Answer.UNKNOWN, reason=reason)]
        questions = [RuleQuestion.FAILS, RuleQuestion.REFUSES, RuleQuestion.ADMITS]
        if rule.source.message_expression:
            questions.append(RuleQuestion.MESSAGE)
        if len(node.rules) > 1:
            questions.append(RuleQuestion.ALONE)
        replies = []
        for question in questions:
            replies.append(self._reply(kind, node, index, question))
            if question is RuleQuestion.REFUSES and replies[-1].answer is Answer.NO:
                break  # what never refuses admits, and is implied by anything
        return replies

    def of_node(self, kind: CustomKind, node: symbolic_rules.Node) -> RuleReply:
        """Ask whether an object can have a value at a place of its schema."""
        return self._reply(kind, node, None, RuleQuestion.FITS)

    def _reply(
        self, kind: CustomKind, node: symbolic_rules.Node, index: int | None, question: RuleQuestion
    ) -> RuleReply:
        def ask(inputs: Inputs) -> tuple[RuleReply, Unmodelled]:
            look = _RuleLook(kind, inputs, self._version, self._seconds, node, index)
            return look.reply(question), look.unmodelled

        with answering_as(self._version):
            return with_enough_items(self._items, ask)


@dataclass(slots=True)
class _RuleLook(symbolic_rules.DefinitionLook):
    """One question about a rule, or about all rules at one place."""

    node: symbolic_rules.Node
    index: int | None
    object: StructuralObject = field(init=False)
    old: StructuralObject | None = field(default=None, init=False)

    def reply(self, question: RuleQuestion) -> RuleReply:
        """Return the answer."""
        reply = RuleReply(self.kind, self.node, self.index, question, Answer.UNKNOWN)
        try:
            formula = self._wanted(question)
        except NotModelled as error:
            return replace(reply, reason=str(error), offset=self.offset)
        outcome = self.search(formula, lambda model: self._confirmed(question, model))
        if outcome.is_proved:
            answer, bounded, items = proved_with(self.inputs)
            return replace(reply, answer=answer, bounded=bounded, items=items)
        if outcome.example is None:
            return replace(reply, reason=outcome.reason)
        example, before = outcome.example
        return replace(reply, answer=Answer.YES, example=example, before=before)

    @property
    def _rule(self) -> CompiledRule:
        assert self.index is not None
        return self.node.rules[self.index]

    # What is wanted.

    def _wanted(self, question: RuleQuestion) -> Formula:
        self.object = StructuralObject(self.inputs, self.kind)
        if question is RuleQuestion.FITS:
            present, _ = self.object.at(self.node.steps)
            self.object.finish()
            return both(present, *self.rules_hold(self.object, None))
        rule = self._rule
        assert rule.rule is not None
        if rule.uses_old_self:
            self.old = StructuralObject(self.inputs, self.kind, "oldObject")
            self.inputs.assumed.append(symbolic_rules.same_name(self.object, self.old))
        present, scope = symbolic_rules.scope_of(rule, *self._value)
        outcome = self.evaluated(rule.rule.program.checked, scope, _CLAIMS[question])
        result = [present, _WANTED[question](outcome)]
        if question is RuleQuestion.MESSAGE:
            result.append(self._has_no_message(rule, scope))
        if question is RuleQuestion.ALONE:
            result += self._neighbours(rule)
        self.object.finish()
        if self.old is not None:
            self.old.finish()
        for cut in self.inputs.cuts:
            cut.loops += 1  # one item is where the rule is asked
        return both(*result)

    @property
    def _value(self) -> tuple[Formula, Outcome, tuple[Formula, Outcome] | None]:
        """Return the value that the rules are asked of: where it is there, what it is and what it
        was."""
        present, value = self.object.at(self.node.steps)
        before = None if self.old is None else self.object.before(self.node.steps, self.old)
        return present, value, before

    def _has_no_message(self, rule: CompiledRule, scope: dict[str, Outcome]) -> Formula:
        if rule.message is None or not rule.message.is_usable:
            return TRUE
        outcome = self.evaluated(rule.message.program.checked, scope, _CLAIMS[RuleQuestion.FAILS])
        texts = (
            both(case.guard, negated(is_blank(case.value.term)))
            for case in outcome.cases
            if isinstance(case.value, Text)
        )
        return negated(either(texts))

    def _neighbours(self, rule: CompiledRule) -> Iterator[Formula]:
        """Yield that the other rules at the place hold; of creation those do not count that
        compare."""
        for other in self.node.rules:
            if other is not rule:
                formula = self.holds(other, *self._value)
                if formula is not None:
                    yield formula

    # The engine's word.

    def _confirmed(
        self, question: RuleQuestion, model: z3.ModelRef
    ) -> tuple[JsonObject, JsonObject | None] | None:
        example = self.object.json(model)
        before = None if self.old is None else self.old.json(model)
        objects = symbolic_rules.engine_objects(self.kind, example, before)
        if objects is None:
            return None
        prepared, was = objects
        if question is RuleQuestion.FITS:
            return None if self.kind.validate(prepared).errors else (example, before)
        rules = self.kind.asked_rules(prepared, was)
        node_rules = [rule for rule in rules if symbolic_rules.is_at(rule, self.node)]
        is_so = any(
            rule.source == self._rule.source and self._is_so(question, rule, node_rules)
            for rule in node_rules
        )
        return (example, before) if is_so else None

    def _is_so(
        self, question: RuleQuestion, rule: EvaluatedRule, rules: Sequence[EvaluatedRule]
    ) -> bool:
        answer = symbolic_rules.verdict(rule)
        if question in (RuleQuestion.FAILS, RuleQuestion.ADMITS):
            return answer is (None if question is RuleQuestion.FAILS else True)
        if answer is not False:
            return False
        if question is RuleQuestion.ALONE:
            siblings = (item for item in rules if item.path == rule.path and item is not rule)
            return all(symbolic_rules.verdict(sibling) for sibling in siblings)
        return question is not RuleQuestion.MESSAGE or _says_nothing(self._rule, rule)


_CLAIMS: Final = {
    RuleQuestion.FAILS: Claim(value=True, holds=False),
    RuleQuestion.ADMITS: symbolic_rules.TRUE_CLAIM,
    **dict.fromkeys(
        (RuleQuestion.REFUSES, RuleQuestion.MESSAGE, RuleQuestion.ALONE),
        Claim(value=False, holds=True),
    ),
}


def _fails(outcome: Outcome) -> Formula:
    """Return where an outcome is an error, or a value that is no bool."""
    is_bool = either((is_true(outcome), is_false(outcome)))
    return either((outcome.error, both(negated(outcome.error), negated(is_bool))))


_WANTED: Final = {
    **dict.fromkeys(RuleQuestion, is_false),
    RuleQuestion.FAILS: _fails,
    RuleQuestion.ADMITS: is_true,
}


def _says_nothing(rule: CompiledRule, evaluated: EvaluatedRule) -> bool:
    if rule.message is None or not rule.message.is_usable:
        return True
    try:
        text = rule.message.program.evaluate(evaluated.activation)
    except EvaluationError:
        return True
    return not str(text).strip()


# --- Transitions -------------------------------------------------------------
#
# Whether a field that a rule calls immutable is.
#
# A rule compares a field with what it was (`self.size == oldSelf.size`). Of each such field it
# is asked whether an update can change it, and whether it can be removed, and then be added
# with another value: a rule is not asked where there is nothing to compare with.


class Change(enum.Enum):
    """Names a change of a field that is said to be immutable."""

    CHANGED = "can be changed"
    REMOVED = "can be removed"
    REPLACED = "can be removed and added again"


class Subject(NamedTuple):
    """A field that a rule compares with what it was. `is_claimed` if the rule says that it is
    immutable."""

    node: symbolic_rules.Node
    rule: int
    names: tuple[str, ...]
    steps: Steps
    is_claimed: bool

    @property
    def text(self) -> str:
        """`spec.size`."""
        return symbolic_rules.path_text(self.names)


@dataclass(frozen=True, slots=True)
class ChangeReply:
    """Holds an answer about a field: for a yes with the objects before and after each update."""

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
    """Yield the fields that the rules of a kind compare with what they were."""
    for node in symbolic_rules.nodes(kind):
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
    """Yield the fields of `self` that are compared with the same ones of `oldSelf`."""
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, syntax.Call) and node.function == syntax.EQUALS:
            chains = dict(filter(None, map(_chain, node.args)))
            if SELF in chains and chains.get(OLD_SELF) == chains[SELF]:
                yield chains[SELF]
        # Reversed, so that the fields come in the order in which the expression names them.
        waiting += reversed(list(_below(node)))


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
    """Return a variable and the fields behind it; what an optional holds is the variable's
    value."""
    names: list[str] = []
    while isinstance(node, syntax.Select) and not node.test_only:
        names.append(node.field)
        node = node.operand
    if isinstance(node, syntax.Call) and node.function == "value" and node.target is not None:
        node = node.target
    return (node.name, tuple(reversed(names))) if isinstance(node, syntax.Ident) else None


def _named(schema: Schema, chain: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the fields as the schema calls them; None if it does not know one."""
    result = []
    for text in chain:
        name = next((each for each in schema.properties if text in (each, escape(each))), None)
        if name is None:
            return None
        result.append(name)
        schema = schema.properties[name]
    return tuple(result)


@dataclass(slots=True)
class Transitions:
    """Answers for one kind; `items` and `seconds` as for rules."""

    kind: CustomKind
    version: str
    items: int = ITEMS
    seconds: float = 10

    def replies(self) -> Iterator[ChangeReply]:
        """Yield the answers about all fields that are compared."""
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
        """Return the answer to one question."""

        def ask(inputs: Inputs) -> tuple[ChangeReply, Unmodelled]:
            look = _ChangeLook(self.kind, inputs, self.version, self.seconds)
            return look.reply(subject, change), look.unmodelled

        return with_enough_items(self.items, ask)


@dataclass(slots=True)
class _ChangeLook(symbolic_rules.DefinitionLook):
    """One question: an object, and what it is after one update or two."""

    history: list[StructuralObject] = field(default_factory=list)

    def reply(self, subject: Subject, change: Change) -> ChangeReply:
        """Return the answer."""
        reply = ChangeReply(self.kind, subject, change, Answer.UNKNOWN)
        try:
            formula = self.wanted(subject, change)
        except NotModelled as error:
            return replace(reply, reason=str(error))
        outcome = self.search(formula, self.confirmed)
        if outcome.is_proved:
            answer, bounded, items = proved_with(self.inputs)
            return replace(reply, answer=answer, bounded=bounded, items=items)
        if outcome.example is None:
            return replace(reply, reason=outcome.reason)
        return replace(reply, answer=Answer.YES, objects=outcome.example)

    def wanted(self, subject: Subject, change: Change) -> Formula:
        """Return the formula that an example has to fulfil. Raises NotModelled."""
        titles = ["oldObject", "object"]
        if change is Change.REPLACED:
            titles.insert(1, "between")
        self.history = [StructuralObject(self.inputs, self.kind, title) for title in titles]
        first, last = self.history[0], self.history[-1]
        # Updates do not change the name, which rules may read.
        for item in self.history[1:]:
            self.inputs.assumed.append(symbolic_rules.same_name(first, item))
        was_there, was = first.at(subject.steps)
        present, value = last.at(subject.steps)
        result = [was_there]
        if change is Change.CHANGED:
            present, was = last.before(subject.steps, first)
            result = [present, last.at(subject.steps)[0], _differ(value, was)]
        elif change is Change.REMOVED:
            result.append(negated(present))
        else:
            between, _ = self.history[1].at(subject.steps)
            result += [negated(between), present, _differ(value, was)]
        for number, item in enumerate(self.history):
            item.finish()
            old = self.history[number - 1] if number else None
            result += self.rules_hold(item, old)
        return both(*result)

    def confirmed(self, model: z3.ModelRef) -> tuple[JsonObject, ...] | None:
        """Return the objects of a model, if validation takes each of them after the one before."""
        objects = tuple(element.json(model) for element in self.history)
        before: dict[str, Json] | None = None
        for item in objects:
            value = symbolic_rules.prepared(self.kind, item)
            if value is None or self.kind.validate(value, before).errors:
                return None
            before = value
        return objects


def _differ(outcome: Outcome, other: Outcome) -> Formula:
    return negated(
        either(
            both(a.guard, b.guard, equal(a.value, b.value))
            for a in outcome.cases
            for b in other.cases
        )
    )
