"""Custom resources that are not known, by their structural schema: what rules see of them after
defaulting and pruning, and what an example of them is.

A field is made when it is asked for, as in `celadon.prove.symbolic_objects`. What the schema says
of a value is assumed where the value is there: types, enumerations, lengths, patterns, ranges,
counts, keys that differ, branches. What has no form in the solver (formats, patterns about words)
is left open: so proofs hold, and the engine sorts out examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import z3

from celadon.kube import Json, JsonObject
from celadon.kube.crd import CustomKind
from celadon.kube.releases import is_since
from celadon.kube.schemas import ABSENT, Schema, ValueLimits, escape
from celadon.prove import solver_terms, symbolic_functions
from celadon.prove.regular_languages import contained, sample
from celadon.prove.solver_terms import FALSE, TRUE, Formula, Term, both, either, negated, same
from celadon.prove.symbolic_functions import equal
from celadon.prove.symbolic_objects import Inputs, Pattern
from celadon.prove.symbolic_values import (
    Case,
    Cut,
    Double,
    Entry,
    Fields,
    Int,
    Item,
    List,
    Map,
    NotModelled,
    Null,
    Outcome,
    Text,
    Truth,
    Unshaped,
    Value,
    certain,
    outcome,
)

Steps = tuple[str | int, ...]
"""Where a value stands in an object: names of fields, numbers of items and entries."""

MOST_NAMES: Final = 120
"""Fields at all depths that two objects may have if they are compared."""

MOST_LEAST_ITEMS: Final = 12
"""A list that must have more items than this is left open."""

_TYPED: Final = {
    "duration": "1h",
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "byte": "YQ==",
}
"""Formats whose texts rules see as other values, and a text of each."""

_SAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "cidr": ("10.0.0.0/8", "10.0.0.1/8", "169.254.0.0/16", "2001:db8::/64", "fe80::1/10"),
    "email": ("a@example.com", "b@example.com"),
    "hostname": ("example.com", "a.example.com"),
    "ipv4": ("10.0.0.1", "192.168.0.1", "127.0.0.1"),
    "ipv6": ("2001:db8::1", "::1", "fe80::1"),
    "mac": ("00:00:00:00:00:01", "00:00:00:00:00:02"),
    "uri": ("https://example.com/", "http://example.com:80/a"),
    "uuid": ("00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000001"),
}
"""Texts that have a format, of which examples have one where they can."""

_NAME: Final = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_MOST_NAME: Final = 253


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A value that has a schema with rules: where it stands, and under which condition it is
    there."""

    schema: Schema
    steps: Steps
    presence: Formula
    value: Outcome


@dataclass(slots=True)
class StructuralObject:
    """One unknown object of a custom kind. `parts` are the values with rules that were made so
    far."""

    inputs: Inputs
    kind: CustomKind
    path: str = "object"
    parts: list[Part] = field(default_factory=list)
    root: Fields = field(init=False)
    _unfinished: list[tuple[Fields, Schema]] = field(default_factory=list)
    _nullable_places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        schema = self.kind.schema
        self.root = self._fields(schema, self.path, (), TRUE)
        gvk = self.kind.gvk
        data = {"apiVersion": gvk.api_version, "kind": gvk.kind}
        for name, value in data.items():
            self.root.members[name] = TRUE, certain(symbolic_functions.literal(value))
        self.root.members["metadata"] = TRUE, certain(self._metadata(schema))
        if schema.rules:
            self.parts.insert(0, Part(schema, (), TRUE, certain(self.root)))

    def _metadata(self, schema: Schema) -> Fields:
        """Rules see the name and the generateName."""
        properties = schema.properties.get("metadata", _NO_SCHEMA).properties
        path = f"{self.path}.metadata"
        name = self.inputs.unknown(f"{path}.name", z3.StringSort())
        self.inputs.assumed.append(z3.Length(name) <= _MOST_NAME)
        self.inputs.patterns.append(Pattern(TRUE, name, _NAME))
        self._assume(TRUE, properties.get("name", _NO_SCHEMA), Text(name))
        # Among the wishes for a plain object: that its name is `example`.
        self.inputs.presences.append(negated(same(name, solver_terms.text("example"))))
        least: dict[str, Json] = {"namespace": "default"} if self.kind.namespaced else {}
        fields = Fields(path, lambda member: self._generated(member, path, properties), least)
        fields.members["name"] = TRUE, certain(Text(name))
        return fields

    def _generated(
        self, name: str, path: str, value: Mapping[str, Schema]
    ) -> tuple[Formula, Outcome] | None:
        if name != "generateName":
            return None
        presence = self.inputs.presence(f"{path}.{name}")
        return presence, self._value(value.get(name, _TEXT), f"{path}.{name}", (), FALSE)

    def finish(self) -> None:
        """Make what the schema requires of all that was made."""
        # What is required of a field is made with the field, and may have required fields of its
        # own.
        while self._unfinished:
            fields, schema = self._unfinished.pop()
            for name in schema.required:
                fields.field(name)

    def json(self, model: z3.ModelRef) -> JsonObject:
        """Return the object of a model."""
        value = self.inputs.json(certain(self.root), model)
        assert isinstance(value, dict)
        return value

    # Places.

    def at(self, steps: Steps) -> tuple[Formula, Outcome]:
        """Return where there is a value at a place that is not null, and that value."""
        ways: list[tuple[Formula, Value]] = [(TRUE, self.root)]
        for step in steps:
            ways = [
                (both(guard, item, case.guard), case.value)
                for guard, value in ways
                for item, inside in _inside(value, step)
                for case in _not_null(inside)
            ]
        return _one_of_ways(ways)

    def before(self, steps: Steps, old: StructuralObject) -> tuple[Formula, Outcome]:
        """Return where a value was there before an update, of which `old` is the object, and what
        it was: fields have their names, entries their keys, items of map lists theirs; what other
        items were nobody can say."""
        schema = self.kind.schema
        ways: list[tuple[Formula, Value, Value]] = [(TRUE, self.root, old.root)]
        for step in steps:
            ways = [
                (both(guard, pair, item.guard, other.guard), item.value, other.value)
                for guard, new, was in ways
                for pair, inside, before in _pairs(new, was, step, schema)
                for item in _not_null(inside)
                for other in _not_null(before)
            ]
            schema = below(schema, step)
        return _one_of_ways([(guard, was) for guard, _, was in ways])

    # Values by schema.

    def _value(self, schema: Schema, path: str, steps: Steps, present: Formula) -> Outcome:
        """Return a value that is not null."""
        outcome = self._made(schema, path, steps, present)
        for case in outcome.cases:
            self._assume(both(present, case.guard), schema, case.value)
        if schema.rules:
            self.parts.append(Part(schema, steps, present, outcome))
        return outcome

    def _assume(self, present: Formula, schema: Schema, value: Value) -> None:
        """Assume that a value is as the schema says, where it is there."""
        fits = both(self._limits(schema, value), self._branches(schema, certain(value)))
        if fits is not TRUE:
            self.inputs.assumed.append(either((negated(present), fits)))
        pattern = schema.limits.pattern
        if pattern and isinstance(value, Text):
            # A pattern is a condition of the solver only if its language can be written; it costs
            # so much there that it is told only of patterns that an example breaks
            # (`Inputs.patterns`).
            with suppress(NotModelled):  # then the engine looks at examples
                contained(pattern)
                self.inputs.patterns.append(Pattern(present, value.term, pattern))

    def _made(self, schema: Schema, path: str, steps: Steps, present: Formula) -> Outcome:
        if schema.enum and all(isinstance(item, str | int | None) for item in schema.enum):
            return self._one_of([item for item in schema.enum if item is not None], path)
        # Two unknowns, of which one counts.
        if schema.int_or_string:
            is_text = self.inputs.presence(f"{path} is a string")
            cases = Case(is_text, self._text(schema, path)), Case(negated(is_text), self._int(path))
            return outcome(cases)
        match schema.type:
            case "string" if schema.format in _TYPED:
                return certain(Unshaped(path, _TYPED[schema.format]))
            case "string":
                return certain(self._text(schema, path))
            case "integer":
                return certain(self._int(path))
            case "boolean":
                return certain(Truth(self.inputs.unknown(path, z3.BoolSort())))
            case "number":
                return certain(Double(self.inputs.unknown(path, z3.Float64())))
            case "array" if schema.items is not None:
                return certain(self._list(schema, schema.items, path, steps, present))
            case "object" if schema.additional_properties is not None:
                values = schema.additional_properties
                return certain(self._map(schema, values, path, steps, present))
            case "object" if schema.embedded_resource:
                return certain(Unshaped(path, {"apiVersion": "v1", "kind": "ConfigMap"}))
            case "object":
                return certain(self._fields(schema, path, steps, present))
        return certain(Unshaped(path))

    def _one_of(self, allowed: Sequence[Json], path: str) -> Outcome:
        ways = [self.inputs.unknown(f"{path} is {item}", z3.BoolSort()) for item in allowed]
        self.inputs.assumed.append(z3.PbEq([(way, 1) for way in ways], 1))
        return outcome(
            Case(way, symbolic_functions.literal(item))
            for way, item in zip(ways, allowed, strict=True)
        )

    def _text(self, schema: Schema, path: str) -> Text:
        text = self.inputs.unknown(path, z3.StringSort())
        usual = _SAMPLES.get(schema.format, ())
        if not usual and (matching := sample(schema.limits.pattern)):
            usual = (matching,)
        each = [same(text, solver_terms.text(word)) for word in usual]
        self.inputs.presences += (negated(item) for item in (*each[:1], either(each)) if each)
        return Text(text)

    def _int(self, path: str) -> Int:
        return Int(self.inputs.unknown(path, z3.IntSort()))

    def _list(
        self, schema: Schema, element: Schema, path: str, steps: Steps, present: Formula
    ) -> List:
        number = self._size(schema.limits.min_items, schema.limits.max_items, path)
        items: list[Item] = []
        for index in range(number):
            place = f"{path}[{index}]"
            is_there = self.inputs.presence(place)
            if items:
                self.inputs.assumed.append(z3.Implies(is_there, items[-1].presence))
            value = self._nullable(element, place, (*steps, index), both(present, is_there))
            items.append(Item(is_there, value))
        sources = self._cuts(path, number, schema.limits.max_items)
        return List(tuple(items), sources, unordered=schema.list_type in ("set", "map"))

    def _map(
        self, schema: Schema, element: Schema, path: str, steps: Steps, present: Formula
    ) -> Map:
        number = self._size(schema.limits.min_properties, schema.limits.max_properties, path)
        entries: list[Entry] = []
        for index in range(number):
            place = f"{path}[{index}]"
            is_there = self.inputs.presence(place)
            key = Text(self.inputs.unknown(f"{place} key", z3.StringSort()))
            self.inputs.assumed += (
                negated(both(is_there, entry.presence, equal(key, entry.key))) for entry in entries
            )
            if entries:
                self.inputs.assumed.append(z3.Implies(is_there, entries[-1].presence))
            value = self._nullable(element, place, (*steps, index), both(present, is_there))
            entries.append(Entry(is_there, key, value))
        sources = self._cuts(path, number, schema.limits.max_properties)
        return Map(tuple(entries), sources)

    def _size(self, least: int | None, most: int | None, path: str) -> int:
        """Return how many items are looked at: no more than there can be."""
        if least is not None and least > MOST_LEAST_ITEMS:
            raise NotModelled(f"{path}, which has {least} items at least")
        number = max(self.inputs.items, least or 0)
        return number if most is None else min(number, most)

    def _cuts(self, path: str, number: int, most: int | None) -> frozenset[Cut]:
        """Nothing is cut off from what can have no more items."""
        if most is not None and most <= number:
            return frozenset()
        cut = Cut(path)
        self.inputs.cuts.append(cut)
        return frozenset({cut})

    def _nullable(self, schema: Schema, path: str, steps: Steps, present: Formula) -> Outcome:
        """Return an item or an entry, of which a null is a value of its own."""
        if not schema.nullable:
            return self._value(schema, path, steps, present)
        is_null = self.inputs.presence(f"{path} null")
        value = self._value(schema, path, steps, both(present, negated(is_null)))
        cases = (Case(both(negated(is_null), case.guard), case.value) for case in value.cases)
        return outcome([Case(is_null, Null()), *cases])

    def _fields(self, schema: Schema, path: str, steps: Steps, present: Formula) -> Fields:
        nulls: dict[str, Json] = {
            name: None
            for name in schema.required
            if name in schema.properties and schema.properties[name].nullable
        }
        fields = Fields(
            path,
            lambda name: self._field(schema, path, steps, present, name, nulls),
            nulls,
            names=tuple(schema.properties) if _is_small(schema) else None,
            renamed={
                escaped: name
                for name in schema.properties
                if (escaped := escape(name)) is not None and escaped != name
            },
        )
        self._unfinished.append((fields, schema))
        return fields

    def _field(
        self,
        schema: Schema,
        path: str,
        steps: Steps,
        present: Formula,
        name: str,
        nulls: dict[str, Json],
    ) -> tuple[Formula, Outcome] | None:
        inside = schema.properties.get(name)
        if inside is None:
            return None
        is_sure = name in schema.required or inside.default is not ABSENT
        place = f"{path}.{name}"
        if inside.nullable:
            self._nullable_places.add(place)
            if is_sure:
                nulls[name] = None
        # Defaulting has filled in what has a default and validation has asked for what is required;
        # only a null can still make such a field absent for rules.
        is_there = TRUE if is_sure and not inside.nullable else self.inputs.presence(place)
        return is_there, self._value(inside, place, (*steps, name), both(present, is_there))

    # What a schema says of a value.

    def holds(self, schema: Schema, outcome: Outcome) -> Formula:
        """Return where a value is as a schema says, at all depths."""
        return either(both(case.guard, self._fits(schema, case.value)) for case in outcome.cases)

    def fits_here(self, schema: Schema, outcome: Outcome) -> Formula:
        """Return the same, but for what is inside of lists, maps and objects."""
        return either(
            both(case.guard, self._fits(schema, case.value, is_deep=False))
            for case in outcome.cases
        )

    def _fits(self, schema: Schema, value: Value, *, is_deep: bool = True) -> Formula:
        if isinstance(value, Unshaped):
            return self._open(value.path)
        is_choice = TRUE
        if schema.enum:
            is_choice = either(
                equal(value, symbolic_functions.literal(item)) for item in schema.enum
            )
        if isinstance(value, Null):
            return both(solver_terms.truth(schema.nullable or not schema.types), is_choice)
        if not self._has_type(schema, value):
            return FALSE
        return both(
            is_choice,
            self._limits(schema, value),
            self._matches(schema, value),
            self._branches(schema, certain(value)),
            self._inside(schema, value) if is_deep else TRUE,
        )

    def _has_type(self, schema: Schema, value: Value) -> bool:
        types = schema.types
        return not types or any(isinstance(value, _TYPES[accepted_type]) for accepted_type in types)

    def _inside(self, schema: Schema, value: Value) -> Formula:
        match value:
            case List() if schema.items is not None:
                element = schema.items
                return both(
                    *(
                        z3.Implies(item.presence, self.holds(element, item.value))
                        for item in value.items
                    )
                )
            case Map() if schema.additional_properties is not None:
                element = schema.additional_properties
                return both(
                    *(
                        z3.Implies(entry.presence, self.holds(element, entry.value))
                        for entry in value.entries
                    )
                )
            case Map() if schema.properties or schema.required:
                return self._open("entries")
            case Fields():
                return both(
                    *(self._has(value, name) for name in schema.required),
                    *(
                        z3.Implies(member[0], self.holds(schema, member[1]))
                        for name, schema in schema.properties.items()
                        if (member := value.field(name)) is not None
                    ),
                )
        return TRUE

    def _has(self, value: Fields, name: str) -> Formula:
        """Return where a field is there; a null is there for the schema, and is not for rules."""
        member = value.field(name)
        present = FALSE if member is None else member[0]
        place = f"{value.path}.{name}"
        return either((present, self._open(place))) if place in self._nullable_places else present

    def _open(self, path: str) -> Formula:
        """Return an unknown: whether what is there fits cannot be said."""
        return self.inputs.unknown(f"{path} fits", z3.BoolSort())

    def _limits(self, schema: Schema, value: Value) -> Formula:
        """Return where a value is as its schema says, whatever is inside."""
        limits = schema.limits
        match value:
            case Text():
                return both(*self._text_limits(limits, schema.format, value.term))
            case Int():
                # Before 1.36 the format was not looked at.
                is_short = schema.format == "int32" and is_since("1.36")
                end = 1 << 31 if is_short else 1 << 63
                return both(value.term >= -end, value.term < end, *_ranges(limits, value.term))
            case Double():
                return both(*self._double_limits(limits, value))
            case List():
                return both(
                    *self._counts(limits.min_items, limits.max_items, value),
                    *_different(value, schema),
                )
            case Map():
                return both(*self._counts(limits.min_properties, limits.max_properties, value))
            case Fields() if limits.min_properties is not None or limits.max_properties is not None:
                return both(*self._field_counts(limits, schema, value))
        return TRUE

    def _text_limits(self, limits: ValueLimits, form: str, text: Term) -> Iterator[Formula]:
        if limits.min_length is not None:
            yield z3.Length(text) >= limits.min_length
        if limits.max_length is not None:
            yield z3.Length(text) <= limits.max_length
        if form in _SAMPLES:
            yield self._open(form)

    def _matches(self, schema: Schema, value: Value) -> Formula:
        """Return where a text matches the pattern of a schema."""
        pattern = schema.limits.pattern
        if not pattern or not isinstance(value, Text):
            return TRUE
        try:
            language = contained(pattern)
        except NotModelled:
            return self._open(pattern)
        return FALSE if language is None else z3.InRe(value.term, language)

    def _double_limits(self, limits: ValueLimits, value: Double) -> Iterator[Formula]:
        term = value.term
        # JSON has no infinities, and no NaN.
        yield negated(z3.Or(z3.fpIsNaN(term), z3.fpIsInf(term)))
        if limits.minimum is not None:
            least = z3.FPVal(float(limits.minimum), z3.Float64())
            yield term > least if limits.exclusive_minimum else term >= least
        if limits.maximum is not None:
            most = z3.FPVal(float(limits.maximum), z3.Float64())
            yield term < most if limits.exclusive_maximum else term <= most
        if limits.multiple_of is not None:
            yield self._open("multipleOf")

    def _counts(self, least: int | None, most: int | None, value: List | Map) -> Iterator[Formula]:
        parts: Sequence[Item | Entry] = value.items if isinstance(value, List) else value.entries
        total = solver_terms.total(part.presence for part in parts)
        if least is not None and least > 0:
            yield total >= least
        if most is not None and most < len(parts):
            yield total <= most

    def _field_counts(
        self, limits: ValueLimits, schema: Schema, value: Fields
    ) -> Iterator[Formula]:
        total = solver_terms.total(self._has(value, name) for name in schema.properties)
        if limits.min_properties is not None:
            yield total >= limits.min_properties
        if limits.max_properties is not None:
            yield total <= limits.max_properties

    def _branches(self, schema: Schema, outcome: Outcome) -> Formula:
        """Return where `anyOf`, `oneOf`, `allOf` and `not` hold."""
        all_of = [self.holds(schema, outcome) for schema in schema.all_of]
        if schema.any_of:
            all_of.append(either(self.holds(schema, outcome) for schema in schema.any_of))
        if schema.one_of:
            each = [(self.holds(schema, outcome), 1) for schema in schema.one_of]
            all_of.append(z3.PbEq(each, 1))
        if schema.not_ is not None:
            all_of.append(negated(self.holds(schema.not_, outcome)))
        return both(*all_of)


def below(schema: Schema, step: str | int) -> Schema:
    """Return the schema of a field, of items or of entries."""
    items = schema.items or schema.additional_properties
    if isinstance(step, str):
        items = schema.properties[step]
    assert items is not None
    return items


def _one_of_ways(ways: Sequence[tuple[Formula, Value]]) -> tuple[Formula, Outcome]:
    """Values whose guards exclude each other as one."""
    return either(guard for guard, _ in ways), outcome(Case(*way) for way in ways)


def _not_null(outcome: Outcome) -> Iterator[Case]:
    return (case for case in outcome.cases if not isinstance(case.value, Null))


def _inside(value: Value, step: str | int) -> Iterator[tuple[Formula, Outcome]]:
    match value:
        case Fields() if isinstance(step, str):
            member = value.field(step)
            if member is not None:
                yield member
        case List() if isinstance(step, int) and step < len(value.items):
            yield value.items[step]
        case Map() if isinstance(step, int) and step < len(value.entries):
            yield value.entries[step].presence, value.entries[step].value


def _pairs(
    new: Value, was: Value, step: str | int, schema: Schema
) -> Iterator[tuple[Formula, Outcome, Outcome]]:
    """Yield what is at a step, and what corresponds to it in a value before an update."""
    match new, was:
        case Fields(), Fields():
            for _, inside in _inside(new, step):
                yield from ((item, inside, before) for item, before in _inside(was, step))
        case Map(), Map() if isinstance(step, int) and step < len(new.entries):
            entry = new.entries[step]
            for element in was.entries:
                yield (
                    both(element.presence, equal(element.key, entry.key)),
                    entry.value,
                    element.value,
                )
        case List(), List() if isinstance(step, int) and step < len(new.items):
            item = new.items[step]
            # Only items of map lists are correlated (`CorrelatedObject` of k8s.io/apiserver
            # `pkg/cel/common/equality.go`): a rule below other lists has no `oldSelf`.
            for other in was.items if schema.list_type == "map" else ():
                alike = same_item(item.value, other.value, schema)
                yield both(other.presence, alike), item.value, other.value


_NO_SCHEMA: Final = Schema()
_TEXT: Final = Schema(type="string")

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (Text,),
    "integer": (Int,),
    "number": (Double, Int),
    "boolean": (Truth,),
    "array": (List,),
    "object": (Fields, Map),
}


def _ranges(limits: ValueLimits, term: Term) -> Iterator[Formula]:
    """Yield the bounds of an integer, which is compared with the whole part of a bound."""
    if limits.minimum is not None:
        least = int(limits.minimum)
        yield term > least if limits.exclusive_minimum else term >= least
    if limits.maximum is not None:
        most = int(limits.maximum)
        yield term < most if limits.exclusive_maximum else term <= most
    if limits.multiple_of is not None and limits.multiple_of >= 1:
        yield term % int(limits.multiple_of) == 0


def _different(value: List, schema: Schema) -> Iterator[Formula]:
    """Items of sets, and keys of map lists, differ."""
    if schema.list_type not in ("set", "map"):
        return
    for number, item in enumerate(value.items):
        for other in value.items[:number]:
            alike = same_item(item.value, other.value, schema)
            yield negated(both(item.presence, other.presence, alike))


def same_item(left: Outcome, right: Outcome, schema: Schema) -> Formula:
    """Return where two items of a set, or of a map list, are the same one."""
    return either(
        both(a.guard, b.guard, _same_key(a.value, b.value, schema))
        for a in left.cases
        for b in right.cases
    )


def _same_key(a: Value, b: Value, schema: Schema) -> Formula:
    if schema.list_type == "set":
        return equal(a, b)
    if not isinstance(a, Fields) or not isinstance(b, Fields):
        return FALSE
    pairs = []
    for key in schema.list_map_keys:
        (left_present, left), (right_present, right) = (
            side.field(key) or _NOTHING for side in (a, b)
        )
        alike = either(
            both(x.guard, y.guard, equal(x.value, y.value)) for x in left.cases for y in right.cases
        )
        # A key that is absent in both is the same, too.
        pairs += [left_present == right_present, either((negated(left_present), alike))]
    return both(*pairs)


_NOTHING: Final = (FALSE, Outcome(FALSE, ()))


def _is_small(schema: Schema) -> bool:
    """Return whether two such objects may be compared field by field."""
    number = 0
    waiting: list[Schema | None] = [schema]
    while waiting and number <= MOST_NAMES:
        nested = waiting.pop()
        if nested is None:
            continue
        # There may be fields in it that nobody knows of.
        if nested.preserve_unknown or nested.open_values or nested.embedded_resource:
            return False
        number += 1
        waiting += (*nested.properties.values(), nested.items, nested.additional_properties)
    return number <= MOST_NAMES
