"""Objects that are not known, by their schema: every field that an expression asks for.

A field is made when it is asked for: whether it is there, and a value that its schema allows. Lists
and maps have up to `items` entries. What a counterexample says of the fields that were asked for,
and the least that the schema demands of the others, is an object again (`Inputs.json`).

What all objects of a kind have after defaulting is there: fields that a rule without conditions
sets (`celadon.kube.defaulting`), those that Go writes whatever they are, and those without which
validation takes no object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeVar

import z3

from celadon.cel.extend import re2
from celadon.kube import GroupVersionKind, Json
from celadon.kube.defaulting import always_set
from celadon.kube.releases import answering_as, is_since
from celadon.kube.schemas import Schema, built_in, resolved
from celadon.prove import solver_terms, symbolic_functions
from celadon.prove.regular_languages import contained
from celadon.prove.solver_terms import FALSE, TRUE, Formula, Term, both, either, negated
from celadon.prove.symbolic_functions import equal, native
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
    is_false,
    outcome,
    selected,
)

ITEMS: Final = 2
"""Of a list or map, where nothing else was asked for."""

Path = tuple[str, ...]

_NAMED_UNIONS: Final = frozenset({"io.k8s.api.core.v1.Volume"})
"""Types that have a name, and one at least of all other fields: where there is none, defaulting
puts one in."""

UNIQUE: Final = frozenset(
    f"io.k8s.api.core.v1.{name}"
    for name in (
        *("Container", "EphemeralContainer", "PodResourceClaim", "PodSchedulingGate"),
        *("ServicePort", "TopologySpreadConstraint", "Volume", "VolumeDevice", "VolumeMount"),
    )
)
"""Items whose lists have no two with the same keys: validation refuses them, which comes before
policies. `x-kubernetes-list-type` alone says nothing of that, but how such lists are merged:
of `env`, `ports` or `finalizers` the server takes the same twice."""

DEMANDED: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(fields.split())
    for name, fields in {
        "CephFSPersistentVolumeSource": "monitors",
        "CephFSVolumeSource": "monitors",
        "CertificateSigningRequestSpec": "request",
        "CounterSet": "counters",
        "CustomResourceDefinitionSpec": "versions",
        "DaemonSetSpec": "selector",
        "DeploymentSpec": "selector",
        "DeviceCounterConsumption": "counters",
        "Endpoint": "addresses",
        "HTTPIngressPath": "pathType",
        "HTTPIngressRuleValue": "paths",
        "IPAddressSpec": "parentRef",
        "MutatingWebhook": "admissionReviewVersions sideEffects",
        "NodeSelector": "nodeSelectorTerms",
        "NonResourcePolicyRule": "nonResourceURLs verbs",
        "OpaqueDeviceConfiguration": "parameters",
        "ParentReference": "resource name",
        "PodFailurePolicyOnExitCodesRequirement": "values",
        "PodSpec": "containers",
        "PolicyRule": "verbs",
        "PolicyRulesWithSubjects": "subjects",
        "RBDPersistentVolumeSource": "monitors",
        "RBDVolumeSource": "monitors",
        "ReplicaSetSpec": "selector",
        "ResourcePolicyRule": "apiGroups resources verbs",
        "StatefulSetSpec": "selector",
        "TopologySelectorLabelRequirement": "values",
        "ValidatingAdmissionPolicyBindingSpec": "policyName validationActions",
        "ValidatingWebhook": "admissionReviewVersions sideEffects",
    }.items()
}
"""Fields that validation does not take empty, by the type. Others that the schema requires Go shows
as null, or leaves out, where a client does not give them."""

_MAY_BE_EMPTY: Final = frozenset({("io.k8s.api.storage.v1.StorageClass", "reclaimPolicy")})
"""Fields that the schema says are one of several texts, and that validation takes empty as well."""

_GETS_TOKEN: Final = frozenset(
    {
        *("spec.volumes", "spec.containers[*].volumeMounts"),
        "spec.initContainers[*].volumeMounts",
    }
)
"""Fields of pods to which a server adds the token of their account."""

_WHOLE: Final = (1 << 53) - 1
"""The largest double that validation takes for an integer: all of them are exact."""

_INTEGERS: Final = {"int32": 1 << 31, "": 1 << 63, "int64": 1 << 63}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Claims that a text matches a regular expression, where it is there."""

    presence: Formula
    text: Term
    pattern: str

    @property
    def formula(self) -> Formula:
        """Return the same for the solver. Raises NotModelled."""
        language = contained(self.pattern)
        matches = FALSE if language is None else z3.InRe(self.text, language)
        return either((negated(self.presence), matches))

    def holds(self, model: z3.ModelRef) -> bool:
        """Return whether it is so in a model: the engine says it, since the solver takes long."""
        if not _holds(self.presence, model):
            return True
        text = solver_terms.text_of(model.eval(self.text, model_completion=True))
        try:
            return bool(re2.compile(self.pattern).search(text))
        except re2.RegexError:  # what is no pattern, no text matches
            return False


Evaluated = TypeVar("Evaluated")


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """The demands of something that was evaluated on inputs: for each so many items, and whether
    their number matters."""

    parts: tuple[tuple[Cut, int, bool], ...]


@dataclass(slots=True)
class Inputs:
    """The unknowns of one question, and what is assumed of them."""

    items: int = ITEMS
    assumed: list[Formula] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)
    """What is assumed, too, and costs the solver so much that it is told only of those that an
    example is against."""
    long: list[Formula] = field(default_factory=list)
    """That the list which is being made has as many items as it is to have."""
    cuts: list[Cut] = field(default_factory=list)
    presences: list[Formula] = field(default_factory=list)
    """Of fields and items, and of what is odd: the fewer hold, the plainer the object."""
    usual: list[Formula] = field(default_factory=list)
    """What validation asks for, most of the time: an example has it if it can."""
    names: dict[str, int] = field(default_factory=dict)
    alternatives: int = 0
    """Those that are being evaluated."""
    demanded: set[Demand] = field(default_factory=set)
    """What the question asks for, alternatives left aside."""

    def unknown(self, path: str, sort: z3.SortRef) -> Term:
        """Return a new unknown, called by its path."""
        number = self.names[path] = self.names.get(path, 0) + 1
        return z3.Const(path if number == 1 else f"{path} #{number}", sort)

    def presence(self, path: str) -> Formula:
        """Return a new formula that says whether something is there."""
        unknown = self.unknown(f"{path}?", z3.BoolSort())
        self.presences.append(unknown)
        return unknown

    @contextmanager
    def only_where(self, present: Formula) -> Iterator[None]:
        """Assume what is said of texts and lists meanwhile only where something is there: what a
        part that cannot exist is to be must not rule out objects without it."""
        patterns, long = len(self.patterns), len(self.long)
        yield
        self.assumed += (either((negated(present), item)) for item in self.long[long:])
        del self.long[long:]
        self.patterns[patterns:] = (
            replace(pattern, presence=both(present, pattern.presence))
            for pattern in self.patterns[patterns:]
        )

    @property
    def bounded(self) -> tuple[str, ...]:
        """Return the paths of the lists and maps of which a proof would need more items than are
        looked at, or of which their number matters: nothing is proved of longer ones."""
        cuts = (
            cut
            for cut in self.cuts
            if cut.is_counted or cut.is_assumed or cut.witnesses > self.items
        )
        return tuple(dict.fromkeys(cut.path for cut in cuts))

    @contextmanager
    def alternative(self) -> Iterator[None]:
        """Treat what is evaluated meanwhile as one of several things of which one has to hold: of
        the items that each of them asks for, only the most are needed."""
        before = {id(cut): cut.loops for cut in self.cuts}
        self.alternatives += 1
        yield
        self.alternatives -= 1
        for cut in self.cuts:
            loops = before.get(id(cut), 0)
            cut.most, cut.loops = max(cut.most, cut.loops - loops), loops

    @contextmanager
    def one_question(self) -> Iterator[None]:
        """Treat what is evaluated meanwhile as one of several questions: which items it asks for
        does not matter to the others, unless they ask for the same (`demand`)."""
        before = {id(cut): (cut.loops, cut.most, cut.is_counted) for cut in self.cuts}
        demanded = set(self.demanded)
        yield
        for cut in self.cuts:
            cut.loops, cut.most, cut.is_counted = before.get(id(cut), (0, 0, False))
        self.demanded = demanded

    def evaluated(self, evaluate: Callable[[], Evaluated]) -> tuple[Evaluated, Demand]:
        """Return what was evaluated, which may be used again; and what it asks of the inputs."""
        before = {id(cut): (cut.loops, cut.is_counted) for cut in self.cuts}
        for cut in self.cuts:
            cut.is_counted = False
        value = evaluate()
        result = []
        for cut in self.cuts:
            loops, was_counted = before.get(id(cut), (0, False))
            if cut.loops > loops or cut.is_counted:
                result.append((cut, cut.loops - loops, cut.is_counted))
            cut.loops, cut.is_counted = loops, was_counted
        demand = Demand(tuple(result))
        self.demand(demand)
        return value, demand

    def demand(self, demand: Demand) -> None:
        """Ask for what was asked for before; what one question asks for once is enough for all that
        uses it, except that it may be an alternative, too."""
        if self.alternatives == 0 and demand in self.demanded:
            return
        for cut, loops, is_counted in demand.parts:
            cut.loops += loops
            cut.is_counted |= is_counted
        if self.alternatives == 0:
            self.demanded.add(demand)

    # Values by schema.

    def kind(
        self,
        gvk: GroupVersionKind,
        schema: Schema,
        path: str,
        *,
        is_custom: bool = False,
        is_stored: bool = False,
    ) -> Fields:
        """Return an object of a kind; of a custom one the schema says no more than what it looks
        like, and while it is not stored it is as a client has written it."""
        value = {"apiVersion": gvk.api_version, "kind": gvk.kind}
        always = {"metadata", "metadata.name", *always_set(gvk)}
        objects = _Objects(
            self, always, value, is_custom=is_custom, is_written=is_custom and not is_stored
        )
        return objects.fields(schema, path, ())

    def value(
        self, schema: Schema, path: str, objects: _Objects | None = None, below: Path = ()
    ) -> Outcome:
        """Return a value that a schema allows."""
        objects = objects or _Objects(self, set(), {})
        schema = resolved(schema)
        if not schema.nullable:
            return self._not_null(schema, path, objects, below)
        is_null = self.presence(f"{path} null")
        with self.only_where(negated(is_null)):
            not_null = self._not_null(schema, path, objects, below)
        cases = [Case(both(negated(is_null), case.guard), case.value) for case in not_null.cases]
        return outcome([Case(is_null, Null()), *cases])

    def _not_null(self, schema: Schema, path: str, objects: _Objects, below: Path) -> Outcome:
        # What built-in kinds have for status is taken without a look at it: any phase can be there.
        if schema.enum and (objects.is_custom or "status" not in below):
            return self._one_of(schema.enum, path, is_written=objects.is_written)
        if schema.int_or_string:
            is_text = self.unknown(f"{path} is a string", z3.BoolSort())
            # Both exist for the solver; the guard says which of them the object has.
            number = self._written_integer(schema, path, objects)
            with self.only_where(is_text):
                text = self._text(schema, path)
            return selected(is_text, certain(text), number)
        match schema.type:
            case "string":
                return certain(self._text(schema, path))
            case "integer":
                return self._written_integer(schema, path, objects)
            case "boolean":
                return certain(Truth(self.unknown(path, z3.BoolSort())))
            case "number" if objects.is_custom:
                return self._number(path)
            case "number":
                return certain(self._double(path))
            case "array" if schema.items is not None:
                return certain(self._list(schema, schema.items, path, objects, below))
            case "object" if schema.embedded_resource or schema.open_values:
                return certain(Unshaped(path))
            case "object" if schema.additional_properties is not None and not schema.properties:
                inside = schema.additional_properties
                return certain(self._map(inside, path, objects, below))
            case "object" if schema.properties:
                return certain(objects.fields(schema, path, below))
        return certain(Unshaped(path))

    def _one_of(self, allowed: Sequence[Json], path: str, *, is_written: bool) -> Outcome:
        if is_written:  # a client may write 2 as 2.0
            doubles = [float(item) for item in allowed if type(item) is int]
            allowed = (*allowed, *doubles)
        ways = [self.unknown(f"{path} is {item}", z3.BoolSort()) for item in allowed]
        # One bool for each allowed value, of which exactly one holds, is easier for the solver than
        # a text that equals one of many.
        self.assumed.append(z3.PbEq([(way, 1) for way in ways], 1))
        return outcome(
            Case(way, symbolic_functions.literal(item))
            for way, item in zip(ways, allowed, strict=True)
        )

    def _text(self, schema: Schema, path: str) -> Text:
        text = self.unknown(path, z3.StringSort())
        limits = schema.limits
        least, most = limits.min_length or 0, limits.max_length
        # What contradicts itself says nothing of objects that do without such a text.
        if most is None or least <= most:
            self.assumed += [z3.Length(text) >= least] if least else []
            self.assumed += [z3.Length(text) <= most] if most is not None else []
        if limits.pattern:
            with suppress(NotModelled):  # then the engine looks at examples
                contained(limits.pattern)
                self.patterns.append(Pattern(TRUE, text, limits.pattern))
        if schema.format == "quantity":  # a server takes no text that is none
            # Examples with quantities like `1` are the plainest: they are wished for, as what is
            # absent is.
            self.presences.append(negated(z3.InRe(text, z3.Range("1", "9"))))
        return Text(text)

    def _integer(self, schema: Schema, path: str, *, is_custom: bool) -> Int:
        number = self.unknown(path, z3.IntSort())
        # Before 1.36 nobody looked at the format of a custom resource.
        is_known = is_since("1.36") or not is_custom
        end = _INTEGERS.get(schema.format, 1 << 63) if is_known else 1 << 63
        least, most = -end, end - 1
        if schema.limits.minimum is not None:
            least = max(least, int(schema.limits.minimum))
        if schema.limits.maximum is not None:
            most = min(most, int(schema.limits.maximum))
        if least > most:  # no object has such a number, so none depends on what it is
            least, most = -end, end - 1
        self.assumed += [number >= least, number <= most]
        return Int(number)

    def _written_integer(self, schema: Schema, path: str, objects: _Objects) -> Outcome:
        """Return an integer that a client may write as 2.0, so that it is a double until it is
        stored."""
        number = self._integer(schema, path, is_custom=objects.is_custom)
        if not objects.is_written:
            return certain(number)
        is_double = self.presence(f"{path} is a double")
        self.assumed += [
            z3.Implies(is_double, z3.And(number.term >= -_WHOLE, number.term <= _WHOLE))
        ]
        double = z3.fpToFP(z3.RNE(), z3.ToReal(number.term), z3.Float64())
        is_negative = both(number.term == 0, self.presence(f"{path} is -0.0"))
        double = z3.If(is_negative, z3.FPVal(-0.0, z3.Float64()), double)
        double_case = Case(is_double, Double(double, number.term))
        return outcome([double_case, Case(negated(is_double), number)])

    def _number(self, path: str) -> Outcome:
        """Return a number as JSON has it: it is an integer if it is written like one."""
        whole = self.unknown(f"{path} is an integer", z3.BoolSort())
        self.presences.append(negated(whole))
        double, number = self._double(path), self._integer(Schema(), path, is_custom=True)
        # The one that is not meant is zero: else the engine would be asked of all that it may be.
        self.assumed += [
            either((negated(whole), z3.fpIsZero(double.term))),
            either((whole, number.term == 0)),
        ]
        return outcome([Case(whole, number), Case(negated(whole), double)])

    def _double(self, path: str) -> Double:
        double = self.unknown(path, z3.Float64())
        self.assumed.append(negated(z3.Or(z3.fpIsNaN(double), z3.fpIsInf(double))))
        return Double(double)

    def _list(
        self, schema: Schema, element: Schema, path: str, objects: _Objects, below: Path
    ) -> List:
        items: list[Item] = []
        for number in range(self.items):
            place = f"{path}[{number}]"
            presence = self.presence(place)
            if items:
                # The items that are there come first; else one list would stand for many models.
                self.assumed.append(z3.Implies(presence, items[-1].presence))
            with self.only_where(presence):
                item = self.value(element, place, objects, (*below, "[*]"))
            items.append(Item(presence, item))
        if objects.is_custom:
            self.long += (item.presence for item in items[: schema.limits.min_items or 0])
        list_value = List(tuple(items), frozenset({self._cut(path)}))
        if not objects.is_custom and element.ref in UNIQUE:
            self._differ(list_value, schema)
        return list_value

    def _differ(self, list_value: List, schema: Schema) -> None:
        """Return that the keys of the items of a map list differ."""
        for number, item in enumerate(list_value.items):
            for other in list_value.items[:number]:
                same = _same_item(item, other, schema)
                if same is not None:
                    self.assumed.append(negated(both(item.presence, other.presence, same)))

    def _map(self, element: Schema, path: str, objects: _Objects, below: Path) -> Map:
        entries: list[Entry] = []
        for number in range(self.items):
            place = f"{path}[{number}]"
            presence, key = self.presence(place), self.unknown(f"{place} key", z3.StringSort())
            self.presences.append(
                negated(solver_terms.same(key, solver_terms.text("abcdefgh"[number % 8])))
            )
            self.assumed += (
                negated(both(presence, entry.presence, equal(Text(key), entry.key)))
                for entry in entries
            )
            if entries:
                self.assumed.append(z3.Implies(presence, entries[-1].presence))
            with self.only_where(presence):
                value = self.value(element, place, objects, (*below, "{*}"))
            entries.append(Entry(presence, Text(key), value))
        return Map(tuple(entries), frozenset({self._cut(path)}))

    def _cut(self, path: str) -> Cut:
        cut = Cut(path)
        self.cuts.append(cut)
        return cut

    # Values of a model.

    def json(self, outcome: Outcome, model: z3.ModelRef) -> Json:
        """Return what an unknown value is in a model; fields that nobody asked for are left out,
        but for what the schema requires."""
        (case,) = (case for case in outcome.cases if _holds(case.guard, model))
        return self._json(case.value, model)

    def _json(self, value: Value, model: z3.ModelRef) -> Json:
        match value:
            case List():
                return [
                    self.json(item.value, model)
                    for item in value.items
                    if _holds(item.presence, model)
                ]
            case Map():
                entries = [entry for entry in value.entries if _holds(entry.presence, model)]
                return {
                    str(self._json(entry.key, model)): self.json(entry.value, model)
                    for entry in entries
                }
            case Fields():
                least = dict(value.least)
                for name, (member, inside) in value.members.items():
                    if _holds(member, model):
                        least[name] = self.json(inside, model)
                return least
            case Unshaped():
                return value.sample
            case Null():
                return None
        assert isinstance(value, Truth | Int | Text | Double)
        return self.scalar(value.term, model)

    def scalar(self, term: Term, model: z3.ModelRef) -> Json:
        """Return what a term is in a model."""
        value = model.eval(term, model_completion=True)
        scalar = native(_BY_SORT.get(value.sort_kind(), Double)(value))
        assert scalar is None or isinstance(scalar, bool | int | float | str)
        return scalar


_BY_SORT: Final[Mapping[int, type[Truth | Int | Text | Double]]] = {
    z3.Z3_BOOL_SORT: Truth,
    z3.Z3_INT_SORT: Int,
    z3.Z3_SEQ_SORT: Text,
}


def _holds(formula: Formula, model: z3.ModelRef) -> bool:
    return bool(z3.is_true(model.eval(formula, model_completion=True)))


def _same_item(left: Item, right: Item, schema: Schema) -> Formula | None:
    (first,), (second,) = left.value.cases, right.value.cases
    if not isinstance(first.value, Fields):
        return None
    assert isinstance(second.value, Fields)
    pairs = []
    for key in schema.list_map_keys:
        a, b = first.value.field(key), second.value.field(key)
        if a is None or b is None or a[0] is not TRUE:
            return None
        pairs.append(equal(a[1].cases[0].value, b[1].cases[0].value))
    return both(*pairs)


@dataclass(frozen=True, slots=True)
class _Objects:
    """Makes the objects of one kind: `always` are the paths of what each of them has."""

    inputs: Inputs
    always: set[str]
    given: Mapping[str, str]
    is_custom: bool = False
    is_written: bool = False
    """Whether its numbers are as a client has written them, who may write 2 as 2.0."""
    fields_by_path: dict[Path, Fields] = field(default_factory=dict)
    """What is made already, by where it is."""

    def fields(self, schema: Schema, path: str, below: Path) -> Fields:
        """Return an object whose fields are those of a schema."""
        fields = self.fields_by_path[below] = Fields(
            path,
            lambda name: self._field(schema, path, below, name),
            (dict(self.given) if not below else {})
            | {
                name: _least(schema.properties[name])
                for name in schema.required
                if name in schema.properties
            },
            every=None if schema.preserve_unknown else tuple(schema.properties),
        )
        if schema.name in _NAMED_UNIONS:
            members = (name for name in schema.properties if name != "name")
            self.inputs.assumed.append(either(fields.made_field(name)[0] for name in members))
        return fields

    def _field(
        self, schema: Schema, path: str, below: Path, name: str
    ) -> tuple[Formula, Outcome] | None:
        inside = schema.properties.get(name)
        place = f"{path}.{name}"
        if inside is None and schema.preserve_unknown and self.is_custom:
            return self.inputs.presence(place), certain(Unshaped(place))
        if inside is None:
            return (FALSE, certain(Unshaped(path))) if schema.preserve_unknown else None
        if not below and name in self.given:
            return TRUE, certain(symbolic_functions.literal(self.given[name]))
        field_path = (*below, name)
        if self.given.get("kind") == "Pod" and _rule_path(field_path) in _GETS_TOKEN:
            self._go_without_token()
        if schema.name in built_in():
            return self._written(schema, name, place, field_path)
        is_sure = name in schema.required or _rule_path(field_path) in self.always
        present = TRUE if is_sure else self.inputs.presence(place)
        with self.inputs.only_where(present):
            return present, self.inputs.value(inside, place, self, field_path)

    def _go_without_token(self) -> None:
        """Assume that no token is added: a server adds a volume with a token, and mounts of it, to
        pods that do not forbid it, and then an example is another one than the solver has found."""
        present, mounts = self.fields_by_path["spec",].made_field("automountServiceAccountToken")
        self.inputs.usual.append(both(present, is_false(mounts)))

    def _written(
        self, schema: Schema, name: str, place: str, field_path: Path
    ) -> tuple[Formula, Outcome]:
        """Return a field as Go writes it: some are there even if empty, most are left out then."""
        encoding = built_in().encoding(schema.name)
        always, pointers = encoding.get("always", {}), encoding.get("ptr", ())
        value = self.inputs.value(schema.properties[name], place, self, field_path)
        if (schema.name, name) in _MAY_BE_EMPTY:
            is_empty = self.inputs.presence(f"{place} empty")
            value = selected(is_empty, certain(symbolic_functions.literal("")), value)
        is_full = _is_full(value)
        is_demanded = name in DEMANDED.get(schema.name.rpartition(".")[2], ())
        is_sure = is_demanded or _rule_path(field_path) in self.always
        if name not in always:
            present = TRUE if is_sure else self.inputs.presence(place)
            # What is no pointer is left out by Go where it is empty (`omitempty`).
            if name not in pointers:
                self.inputs.assumed.append(either((negated(present), is_full)))
            return present, value
        if name in schema.required:
            self.inputs.usual.append(is_full)
        if is_demanded:
            self.inputs.assumed.append(is_full)
        elif always[name] is None and not is_sure:
            is_value = self._value_there(value, place, may_be_empty=name in pointers)
            value = selected(is_value, value, certain(Null()))
        return TRUE, value

    def _value_there(self, outcome: Outcome, place: str, *, may_be_empty: bool) -> Formula:
        """Return where what may be null is not: a full value is none, nor is an empty one behind a
        pointer, nor `[]` until it is stored."""
        if not _has_empty(outcome):
            return self.inputs.presence(place)
        if may_be_empty or _is_container(outcome):
            return either((_is_full(outcome), self.inputs.presence(f"{place} empty")))
        return _is_full(outcome)


def narrowed(outcome: Outcome, schema: Schema, release: str) -> Outcome:
    """Return the same value as a server of an older release sees it, which knows no more fields
    than its schema."""
    with answering_as(release):
        resolved_schema = resolved(schema)
    cases = (
        Case(case.guard, _narrowed(case.value, resolved_schema, release)) for case in outcome.cases
    )
    return Outcome(outcome.error, tuple(cases))


def _narrowed(value: Value, schema: Schema, release: str) -> Value:
    match value:
        case Fields() if schema.properties:

            def field_of(name: str) -> tuple[Formula, Outcome] | None:
                inside = schema.properties.get(name)
                field = None if inside is None else value.field(name)
                if inside is None or field is None:
                    return None
                member = field[0], narrowed(field[1], inside, release)
                return _as_written(*member, schema.name, name, release)

            return Fields(value.path, field_of, value.least)
        case List() if schema.items is not None:
            element = schema.items
            items = (
                Item(item.presence, narrowed(item.value, element, release)) for item in value.items
            )
            return List(tuple(items), value.sources)
        case Map() if schema.additional_properties is not None:
            values = schema.additional_properties
            entries = (
                Entry(entry.presence, entry.key, narrowed(entry.value, values, release))
                for entry in value.entries
            )
            return Map(tuple(entries), value.sources)
    return value


def _as_written(
    present: Formula, outcome: Outcome, type_name: str, name: str, release: str
) -> tuple[Formula, Outcome]:
    """Return a field of a type as an older release writes it, which may show as null what the newer
    leaves out. Raises NotModelled."""
    newer = _manner(type_name, name)
    with answering_as(release):
        older = _manner(type_name, name)
    if newer == older:
        return present, outcome
    if _is_container(outcome) or True in (newer.is_pointer, older.is_pointer) or newer.is_always:
        raise NotModelled(f"{name}, which releases write differently")
    return TRUE, selected(present, outcome, certain(Null()))


class _Manner(NamedTuple):
    """The ways in which Go writes a field that is empty."""

    is_always: bool = False
    shown: Json = None
    is_pointer: bool = False


def _manner(type_name: str, name: str) -> _Manner:
    if type_name not in built_in():
        return _Manner()
    encoding = built_in().encoding(type_name)
    always = encoding.get("always", {})
    return _Manner(name in always, always.get(name), name in encoding.get("ptr", ()))


def _rule_path(path: Path) -> str:
    """Return the path as rules of defaulting write it: `spec.containers[*].ports`."""
    return ".".join(path).replace(".[*]", "[*]").replace(".{*}", "{*}")


def _is_container(outcome: Outcome) -> bool:
    return any(isinstance(case.value, List | Map) for case in outcome.cases)


def _has_empty(outcome: Outcome) -> bool:
    """Return whether there is an empty value of the kind."""
    kinds = (*_EMPTY, List, Map)
    return all(isinstance(case.value, kinds) for case in outcome.cases)


def _is_full(outcome: Outcome) -> Formula:
    """Return where a value is no empty text, list or map, zero or false; objects always are
    full."""
    return either(
        both(
            case.guard,
            negated(equal(case.value, _EMPTY[type(case.value)]))
            if type(case.value) in _EMPTY
            else either(part.presence for part in _parts(case.value)),
        )
        for case in outcome.cases
    )


_EMPTY: Final[Mapping[type, Value]] = {
    Text: symbolic_functions.literal(""),
    Int: symbolic_functions.literal(0),
    Truth: symbolic_functions.literal(value=False),
    Double: symbolic_functions.literal(0.0),
}


def _parts(value: Value) -> Sequence[Item | Entry]:
    if isinstance(value, List):
        return value.items
    return value.entries if isinstance(value, Map) else (Item(TRUE, certain(value)),)


def _least(schema: Schema) -> Json:
    """Return the least value that a schema allows, for a field that nobody asked for."""
    schema = resolved(schema)
    if schema.enum:
        return schema.enum[0]
    match schema.type:
        case "integer" | "number":
            return int(schema.limits.minimum or 0)
        case "boolean":
            return False
        case "array":
            return []
        case "object" if schema.properties:
            return {
                name: _least(schema.properties[name])
                for name in schema.required
                if name in schema.properties
            }
        case "object":
            return {}
    return "x" * max(1, schema.limits.min_length or 0)
