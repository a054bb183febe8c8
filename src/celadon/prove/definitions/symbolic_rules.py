"""One question about custom resources: the rules of a kind over objects that are not known.

The rules at all places are found once for a kind (`nodes`). A question is a formula about one
object or several (before and after updates); `DefinitionLook` evaluates rules in it and looks for
examples, and `engine_objects` has validation say whether the schema admits them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from celadon.cel import CheckedAst, EvaluationError, syntax
from celadon.kube import JsonObject, StatusError
from celadon.kube.crd import OLD_SELF, SELF, CompiledRule, CustomKind, EvaluatedRule, RuleValidator
from celadon.kube.json_types import JsonDict
from celadon.kube.library import environment
from celadon.kube.schemas import Schema
from celadon.prove.definitions.symbolic_custom_objects import Steps, StructuralObject
from celadon.prove.example_search import Claim, Confirm, Search, SearchOutcome, T, free_loops
from celadon.prove.solver_terms import FALSE, Formula, both, either, negated
from celadon.prove.symbolic_evaluator import Evaluator
from celadon.prove.symbolic_objects import Inputs
from celadon.prove.symbolic_values import Maybe, NotModelled, Outcome, Text, certain, is_true
from celadon.prove.uninterpreted_functions import Unmodelled

MOST_PARTS: Final = 150
"""Values with rules that are looked at in one object."""

TRUE_CLAIM: Final = Claim(value=True, holds=True)


class Node(NamedTuple):
    """Names a place in a schema that has rules. `names` are fields, `[*]` and `{*}`; `steps` lead
    to the first such value of an object."""

    names: tuple[str, ...]
    steps: Steps
    schema: Schema
    rules: Sequence[CompiledRule]

    @property
    def text(self) -> str:
        """`spec.listeners[*]`."""
        return path_text(self.names)


def path_text(names: Sequence[str]) -> str:
    """Return a place in a schema, as people write it."""
    return ".".join(names).replace(".[*]", "[*]").replace(".{*}", "{*}")


def schema_path(root: Sequence[str | int], names: Sequence[str]) -> tuple[str | int, ...]:
    """Return the path in a definition of the schema of a place; `root` is that of the schema of the
    object."""
    path = list(root)
    for name in names:
        path += {"[*]": ["items"], "{*}": ["additionalProperties"]}.get(name, ["properties", name])
    return tuple(path)


def nodes(kind: CustomKind) -> list[Node]:
    """Return the places of a kind's schema that have rules, those around others first."""
    compiled = None if kind.rules is None else kind.rules.value
    return [] if compiled is None else list(_nodes(compiled, (), ()))


def _nodes(validator: RuleValidator, names: tuple[str, ...], steps: Steps) -> Iterator[Node]:
    if validator.node.rules:
        yield Node(names, steps, validator.schema, validator.node.rules)
    for name, value in validator.properties.items():
        yield from _nodes(value, (*names, name), (*steps, name))
    for below, mark in ((validator.additional, "{*}"), (validator.items, "[*]")):
        if below is not None:
            yield from _nodes(below, (*names, mark), (*steps, 0))


@dataclass(slots=True)
class DefinitionLook:
    """One question about objects of a kind; `place` is what was not modelled, and where."""

    kind: CustomKind
    inputs: Inputs
    version: str
    seconds: float
    unmodelled: Unmodelled = field(init=False)
    place: tuple[CheckedAst, syntax.Expr] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.unmodelled = Unmodelled(environment(self.version), inputs=self.inputs)

    @property
    def offset(self) -> int | None:
        """Return where in its expression something is that is not modelled."""
        if self.place is None:
            return None
        checked, node = self.place
        return checked.ast.positions.get(node.id)

    def search(self, formula: Formula, confirm: Confirm[T]) -> SearchOutcome[T]:
        """Return an example of what is wanted, or a proof that there is none."""
        return Search(self.inputs, self.unmodelled, self.seconds).find(formula, confirm)

    def evaluated(self, checked: CheckedAst, scope: dict[str, Outcome], claim: Claim) -> Outcome:
        """Return what an expression comes to, of which something is to be known. Raises
        NotModelled."""
        evaluator = Evaluator(checked, self.unmodelled)
        evaluator.free = free_loops(checked.root, claim)
        try:
            return evaluator.evaluate(scope)
        except NotModelled:
            if self.place is None:
                self.place = checked, evaluator.place[0]
            raise

    def holds(
        self,
        rule: CompiledRule,
        present: Formula,
        value: Outcome,
        before: tuple[Formula, Outcome] | None,
    ) -> Formula | None:
        """Return the formula that a rule holds of a value, if that is there; None if it is not
        asked, or what it says is not modelled. `before` is what the value was before an update, and
        where it was."""
        if rule.rule is None:
            return None
        present, scope = scope_of(rule, present, value, before)
        if present is FALSE:
            return None
        try:
            outcome = self.evaluated(rule.rule.program.checked, scope, TRUE_CLAIM)
        except NotModelled:
            self.place = None
            return None
        return either((negated(present), is_true(outcome)))

    def rules_hold(
        self, about: StructuralObject, old: StructuralObject | None
    ) -> Iterator[Formula]:
        """Yield that all rules hold of all that is looked at of an object, as far as they are
        modelled. `old` is what it was before an update. Raises NotModelled if there is too much."""
        rules = {id(node.schema): node.rules for node in nodes(about.kind)}
        done = 0
        while done < len(about.parts):
            if done >= MOST_PARTS:
                raise NotModelled(f"more than {MOST_PARTS} values with rules")
            part = about.parts[done]
            done += 1
            before = None if old is None else about.before(part.steps, old)
            for rule in rules[id(part.schema)]:
                formula = self.holds(rule, part.presence, part.value, before)
                if formula is not None:
                    yield formula
            about.finish()  # rules may have asked for more


def scope_of(
    rule: CompiledRule, present: Formula, value: Outcome, before: tuple[Formula, Outcome] | None
) -> tuple[Formula, dict[str, Outcome]]:
    """Return where a rule is asked, and its variables."""
    scope = {SELF: value}
    if rule.uses_old_self:
        was_there, was = before or (FALSE, Outcome(FALSE, ()))
        if rule.source.optional_old_self:
            scope[OLD_SELF] = certain(Maybe(was_there, was))
        else:
            present, scope[OLD_SELF] = both(present, was_there), was
    return present, scope


def same_name(left: StructuralObject, right: StructuralObject) -> Formula:
    """Return where two objects are called the same."""
    (_, a), (_, b) = (side.at(("metadata", "name")) for side in (left, right))
    first, second = a.cases[0].value, b.cases[0].value
    assert isinstance(first, Text)
    assert isinstance(second, Text)
    same: Formula = first.term == second.term
    return same


def prepared(kind: CustomKind, obj: JsonObject) -> JsonDict | None:
    """Return an object as a server prepares it, or None for one whose defaults are more than a
    store takes."""
    try:
        value: JsonDict = kind.prepare(dict(obj)).value
    except StatusError:
        return None
    return value


def engine_objects(
    kind: CustomKind, example: JsonObject, before: JsonObject | None = None
) -> tuple[JsonDict, JsonDict | None] | None:
    """Return both objects as a server prepares them; None if the schema does not admit one of
    them."""
    without_rules = replace(kind, rules=None)
    result = []
    for item in (example, before):
        if item is None:
            continue
        value = prepared(kind, item)
        if value is None or without_rules.validate(value).errors:
            return None
        result.append(value)
    return result[0], result[1] if before is not None else None


def verdict(rule: EvaluatedRule) -> bool | None:
    """Return what a rule says; None for an error."""
    try:
        return rule.program.evaluate(rule.activation) is True
    except EvaluationError:
        return None


def is_at(rule: EvaluatedRule, node: Node) -> bool:
    """Return whether a rule was asked for a value at a place of the schema."""
    steps = rule.path.steps
    return len(steps) == len(node.names) and all(
        name in ("[*]", "{*}") or step == name for step, name in zip(steps, node.names, strict=True)
    )
