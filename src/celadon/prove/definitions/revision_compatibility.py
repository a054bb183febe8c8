"""Proves whether an object that one revision of a CustomResourceDefinition took is invalid in the
next.

Both schemas are walked together. Where they differ, the new one may ask for more: another type, a
shorter text, a field that has to be there, a rule. Each such demand is a question: is there an
object that the old revision admits, rules and all, and that does not meet it? The object is read as
a server reads it (pruned and with the defaults of the new revision), and both revisions have the
last word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import z3

from celadon.kube import Json, JsonObject
from celadon.kube.crd import CompiledRule, CustomKind
from celadon.kube.releases import answering_as
from celadon.kube.schemas import ABSENT, Schema, escape
from celadon.prove.definitions.symbolic_custom_objects import Steps, StructuralObject
from celadon.prove.definitions.symbolic_rules import DefinitionLook, nodes, path_text, prepared
from celadon.prove.example_search import Claim
from celadon.prove.policy_questions import Answer, proved_with, with_enough_items
from celadon.prove.solver_terms import FALSE, TRUE, Formula, both, negated
from celadon.prove.symbolic_functions import literal
from celadon.prove.symbolic_objects import ITEMS, Inputs
from celadon.prove.symbolic_values import (
    Case,
    Entry,
    Fields,
    Int,
    Item,
    List,
    Map,
    NotModelled,
    Outcome,
    Text,
    Unshaped,
    Value,
    certain,
    is_true,
    outcome,
    selected,
)
from celadon.prove.uninterpreted_functions import Unmodelled


@dataclass(frozen=True, slots=True)
class Demand:
    """Names something that the new revision asks of a value and the old one does not: keywords of
    its schema, fields that are `required`, or a rule."""

    names: tuple[str, ...]
    steps: Steps
    schema: Schema
    keywords: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    rule: int | None = None
    compiled: CompiledRule | None = None

    @property
    def text(self) -> str:
        """`spec.size: maximum`."""
        text = ", ".join(self.keywords)
        if self.required:
            text = f"required: {', '.join(self.required)}"
        if self.rule is not None:
            text = f"rule {self.rule}"
        return f"{path_text(self.names) or 'the object'}: {text}"


@dataclass(frozen=True, slots=True)
class RevisionReply:
    """Holds the answer about one demand: `example` is an object that the old revision took,
    `errors` is what the new one says of it. `is_forgiven` if an update is taken that changes labels
    only (ratcheting)."""

    kind: CustomKind
    demand: Demand
    answer: Answer
    example: JsonObject | None = None
    errors: tuple[str, ...] = ()
    is_forgiven: bool = False
    reason: str = ""
    bounded: tuple[str, ...] = ()
    items: int = ITEMS


def demands(old: CustomKind, new: CustomKind) -> list[Demand]:
    """Return what the new revision of a kind may ask for in addition."""
    rules = {node.names: node.rules for node in nodes(new)}
    return list(_demands(old.schema, new.schema, (), (), rules))


def _demands(
    old: Schema,
    new: Schema,
    names: tuple[str, ...],
    steps: Steps,
    rules: dict[tuple[str, ...], Any],
) -> Iterator[Demand]:
    if old == new:
        return
    # One demand for all keywords of a node, one for its required fields and one for each rule: each
    # gets an answer of its own.
    keywords = tuple(_changed(old, new, is_item=names[-1:] == ("[*]",)))
    if keywords:
        yield Demand(names, steps, new, keywords)
    missing = tuple(name for name in new.required if _may_be_missing(old, new, name))
    if missing:
        yield Demand(names, steps, new, required=missing)
    old_rules = {(rule.rule, rule.optional_old_self) for rule in old.rules}
    is_seen_alike = seen_alike(old, new)
    for index, rule in enumerate(rules.get(names, ())):
        is_known = (rule.source.rule, rule.source.optional_old_self) in old_rules
        # A rule with `oldSelf` is about updates: an object that is stored already does not break
        # it.
        if not rule.uses_old_self and not (is_known and is_seen_alike):
            yield Demand(names, steps, new, rule=index, compiled=rule)
    for name, inside in new.properties.items():
        was = old.properties.get(name)
        if was is not None:
            yield from _demands(was, inside, (*names, name), (*steps, name), rules)
    if old.items is not None and new.items is not None:
        yield from _demands(old.items, new.items, (*names, "[*]"), (*steps, 0), rules)
    values = old.additional_properties, new.additional_properties
    if values[0] is not None and values[1] is not None:
        yield from _demands(values[0], values[1], (*names, "{*}"), (*steps, 0), rules)


def _changed(old: Schema, new: Schema, *, is_item: bool) -> Iterator[str]:
    """Yield the keywords of a node that may refuse values, and are not what they were. A null that
    is not allowed any more is dropped where it is no item of a list."""
    if old.types != new.types and new.types:
        yield "type"
    if new.enum and old.enum != new.enum:
        yield "enum"
    if new.format and old.format != new.format:
        yield "format"
    if is_item and old.nullable and not new.nullable:
        yield "nullable"
    for name, keyword in _LIMITS.items():
        limit = getattr(new.limits, name)
        is_given = not (limit is None or limit is False or limit == "")
        if is_given and limit != getattr(old.limits, name):
            yield keyword
    for name, keyword in _BRANCHES.items():
        if getattr(new, name) and getattr(new, name) != getattr(old, name):
            yield keyword
    if (new.list_type, new.list_map_keys) != (old.list_type, old.list_map_keys):
        yield "x-kubernetes-list-type"
    if (old.additional_properties is None) != (new.additional_properties is None):
        yield "additionalProperties"


_LIMITS: Final = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusive_minimum": "exclusiveMinimum",
    "exclusive_maximum": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_properties": "minProperties",
    "max_properties": "maxProperties",
}
_BRANCHES: Final = {"all_of": "allOf", "any_of": "anyOf", "one_of": "oneOf", "not_": "not"}


def _may_be_missing(old: Schema, new: Schema, name: str) -> bool:
    """Return whether a required field may be missing in an object that was admitted."""
    was, now = old.properties.get(name), new.properties.get(name)
    if now is not None and now.default is not ABSENT:
        return False
    if name not in old.required or was is None:
        return True
    return was.nullable and now is not None and not now.nullable  # nulls are dropped then


def seen_alike(old: Schema, new: Schema) -> bool:
    """Return whether rules see the same of a value: its fields, types and defaults."""
    if (old.types, old.format, old.nullable, old.default, old.list_type) != (
        new.types,
        new.format,
        new.nullable,
        new.default,
        new.list_type,
    ):
        return False
    if old.properties.keys() != new.properties.keys():
        return False
    inside = [(old.properties[name], new.properties[name]) for name in old.properties]
    for pair in ((old.items, new.items), (old.additional_properties, new.additional_properties)):
        if (pair[0] is None) != (pair[1] is None):
            return False
        if pair[0] is not None and pair[1] is not None:
            inside.append((pair[0], pair[1]))
    return all(schema == other or seen_alike(schema, other) for schema, other in inside)


@dataclass(slots=True)
class Revisions:
    """Compares two revisions of one version of a kind; `items` and `seconds` as for rules."""

    old: CustomKind
    new: CustomKind
    version: str
    items: int = ITEMS
    seconds: float = 10

    def replies(self) -> Iterator[RevisionReply]:
        """Return an answer for each demand."""
        with answering_as(self.version):
            result = demands(self.old, self.new)
        return map(self.reply, result)

    def reply(self, demand: Demand) -> RevisionReply:
        """Return the answer about one demand."""

        def ask(inputs: Inputs) -> tuple[RevisionReply, Unmodelled]:
            look = _RevisionLook(self.old, inputs, self.version, self.seconds, self.new)
            return look.reply(demand), look.unmodelled

        with answering_as(self.version):
            return with_enough_items(self.items, ask)


@dataclass(slots=True)
class _RevisionLook(DefinitionLook):
    """One question. `kind` is the old revision."""

    new: CustomKind
    object: StructuralObject = field(init=False)

    def reply(self, demand: Demand) -> RevisionReply:
        """Return the answer."""
        reply = RevisionReply(self.new, demand, Answer.UNKNOWN)
        try:
            formula = self._wanted(demand)
        except NotModelled as error:
            return replace(reply, reason=str(error))
        outcome = self.search(formula, self._confirmed)
        if outcome.is_proved:
            answer, bounded, items = proved_with(self.inputs)
            return replace(reply, answer=answer, bounded=bounded, items=items)
        if outcome.example is None:
            return replace(reply, reason=outcome.reason)
        example, errors, is_forgiven = outcome.example
        return replace(
            reply, answer=Answer.YES, example=example, errors=errors, is_forgiven=is_forgiven
        )

    def _wanted(self, demand: Demand) -> Formula:
        self.object = StructuralObject(self.inputs, self.kind)
        if "nullable" in demand.keywords:
            raise NotModelled("nulls that were allowed")
        present, value = self.object.at(demand.steps)
        result = [present]
        if demand.compiled is not None:
            result.append(negated(self._rule_holds(demand, value)))
        elif demand.required:
            result.append(negated(both(*(_has(value, name) for name in demand.required))))
        else:
            result.append(negated(self.object.fits_here(demand.schema, value)))
        self.object.finish()
        result += self.rules_hold(self.object, None)
        for cut in self.inputs.cuts:
            cut.loops += 1  # one item is where the demand is
        return both(*result)

    def _rule_holds(self, demand: Demand, value: Outcome) -> Formula:
        rule = demand.compiled
        assert rule is not None
        if rule.rule is None:
            raise NotModelled(rule.error or "an empty rule")
        claim = Claim(value=True, holds=False)
        scope = {"self": seen(demand.schema, value)}
        return is_true(self.evaluated(rule.rule.program.checked, scope, claim))

    def _confirmed(self, model: z3.ModelRef) -> tuple[JsonObject, tuple[str, ...], bool] | None:
        """Return the object, and what the new revision says of it, if that is an error and the old
        one says nothing."""
        example = self.object.json(model)
        stored = prepared(self.kind, example)
        # The example has to be one that a server with the old revision would have stored.
        if stored is None or self.kind.validate(stored).errors:
            return None
        read = prepared(self.new, stored)
        if read is None:
            return None
        errors = self.new.validate(read).errors
        if not errors:
            return None
        # The same object with another label tells whether ratcheting forgives what did not change.
        metadata: JsonObject = {**read["metadata"], "labels": {"touched": "true"}}
        is_forgiven = not self.new.validate({**read, "metadata": metadata}, read).errors
        return example, tuple(map(str, errors)), is_forgiven


def _has(outcome: Outcome, name: str) -> Formula:
    present = FALSE
    for case in outcome.cases:
        if not isinstance(case.value, Fields):
            raise NotModelled("fields of what was no object")
        member = case.value.field(name)
        present = present if member is None else member[0]
    return present


# --- An old object as the new revision reads it -------------------------------


def seen(schema: Schema, value: Outcome) -> Outcome:
    """Return a value as rules of another schema see it: without fields that it does not know, and
    with its defaults."""
    cases = (Case(case.guard, _seen(schema, case.value)) for case in value.cases)
    return outcome(cases, value.error)


def _seen(schema: Schema, value: Value) -> Value:
    match value:
        case Fields():
            return _seen_fields(schema, value)
        case List() if schema.items is not None:
            element = schema.items
            items = tuple(Item(item.presence, seen(element, item.value)) for item in value.items)
            return List(items, value.sources, unordered=schema.list_type in ("set", "map"))
        case Map() if schema.additional_properties is not None:
            values = schema.additional_properties
            entries = (
                Entry(entry.presence, entry.key, seen(values, entry.value))
                for entry in value.entries
            )
            return Map(tuple(entries), value.sources)
        case Int() if schema.type == "number":
            return Unshaped("an integer that is a number now")
        case Text() if schema.format in ("duration", "date", "date-time", "byte"):
            return Unshaped("a text that has a format now")
        case List() | Map():
            return Unshaped("what was of another type")
    return value


def _seen_fields(schema: Schema, value: Fields) -> Value:
    if schema.additional_properties is not None:
        return Unshaped("what was an object and is a map now")
    renamed = {
        escaped: name
        for name in schema.properties
        if (escaped := escape(name)) is not None and escaped != name
    }

    def field_of(name: str) -> tuple[Formula, Outcome] | None:
        inside = schema.properties.get(name)
        if name in _RESOURCE_FIELDS and not value.path.partition(".")[2]:
            return value.field(name)
        if inside is None:
            return None
        present, member = value.field(name) or (FALSE, Outcome(FALSE, ()))
        now = seen(inside, member)
        if inside.default is ABSENT:
            return present, now
        default: Json = inside.default  # type: ignore[assignment]
        return TRUE, selected(present, now, certain(literal(default)))

    return Fields(value.path, field_of, renamed=renamed)


_RESOURCE_FIELDS: Final = ("apiVersion", "kind", "metadata")
