"""Where Kyverno fails a rule, since a variable of it reads what is absent.

Kyverno refuses a request then, if the rule enforces and the policy's `failurePolicy` is `Fail`. A
condition of the translation simply does not hold, as one would write it by hand; so the difference
is named. Facts are those of `interpreter.go` of Kyverno's go-jmespath: a field that is not there is
an error, which `||`, comparisons, functions, pipes and projections take for null.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from celadon.kube import Json
from celadon.migrate.cel_text import ALWAYS
from celadon.migrate.kyverno.conditions import variables_in
from celadon.migrate.kyverno.expressions import Reader, parsed
from celadon.migrate.kyverno.queries import PARAMS, Located, Names, Query, is_defined
from celadon.migrate.translations import NotTranslated

if TYPE_CHECKING:
    from celadon.kube import JsonObject


def failing_variables(value: Json, names: Names, always: Collection[str]) -> Iterator[str]:
    """Yield the variables in conditions or patterns that fail for some objects. `always` are paths
    of fields that every object has in a cluster."""
    written = json.dumps(value)
    whole = (written[start + 2 : end - 2] for start, end in variables_in(written))
    for found in dict.fromkeys(whole):
        text = json.loads(f'"{found}"').strip()
        if _may_fail(text, names, always):
            yield text


def _may_fail(text: str, names: Names, always: Collection[str]) -> bool:
    try:
        found = _Judge(Reader(names), always).outcome(parsed(text), names)
    except NotTranslated:
        return False  # the rule is not translated, or the text is a message of it
    return found.is_missing or found.fails


@dataclass(frozen=True, slots=True)
class _Outcome:
    """An expression may come to this, besides a value."""

    is_missing: bool = False
    """A field that is not there, an error that others catch."""
    is_null: bool = False
    fails: bool = False

    @property
    def is_nothing(self) -> bool:
        """Return whether what catches the error has null."""
        return self.is_missing or self.is_null


_VALUE: Final = _Outcome()
_TAKE_NULL: Final = frozenset({"not_null", "to_array", "to_number", "to_string", "type"})
"""Functions that have an answer for null; others fail."""


def _may_lack(value: Query, always: Collection[str], *, is_step: bool) -> bool:
    """Return whether a field may be missing; with `is_step`, in an object that is there."""
    if not isinstance(value, Located):
        return is_defined(value) != ALWAYS
    place = value.place
    # Without the ConfigMap's key, the translation fails, too. What is validated has images.
    if place.root == PARAMS or place.path in always or place.path.endswith("ontainers[*].image"):
        return False
    if not place.steps:
        return bool(place.unsure)
    return not place.steps[-1].is_sure if is_step else bool(place.unsure)


@dataclass(frozen=True, slots=True)
class _Judge:
    reader: Reader
    always: Collection[str]
    is_of_nothing: bool = False
    """Whether what an expression is about may be null."""

    def outcome(self, node: JsonObject, current: Query) -> _Outcome:
        kind, children = node["type"], node["children"]
        match kind:
            case "current" | "identity":
                return _Outcome(is_null=self.is_of_nothing)
            case "field" if node["value"].startswith("{{"):
                return self.outcome(parsed(node["value"][2:-2]), self.reader.names)
            case "field":
                found = self.reader.read(node, current)
                is_step = isinstance(current, Located)
                return _Outcome(is_missing=_may_lack(found, self.always, is_step=is_step))
            case "literal":
                return _Outcome(is_null=node["value"] is None)
            case "index":
                return _Outcome(is_null=True)
            case "subexpression" | "index_expression" | "pipe":
                return self._steps(children, current, catches=kind == "pipe")
            case "or_expression":
                first, second = (self.outcome(one, current) for one in children)
                return _Outcome(is_null=second.is_nothing, fails=first.fails or second.fails)
            case "function_expression":
                given = [self.outcome(one, current) for one in children]
                takes = node["value"] in _TAKE_NULL
                return _Outcome(
                    is_null=node["value"] == "not_null" and all(one.is_nothing for one in given),
                    fails=any(one.fails or (one.is_nothing and not takes) for one in given),
                )
            case "projection" | "filter_projection" | "flatten" | "value_projection":
                base = self.outcome(children[0], current)
                return _Outcome(is_null=base.is_nothing, fails=base.fails)
            case "and_expression" | "not_expression" | "comparator" | "multi_select_list":
                return _Outcome(fails=any(self.outcome(one, current).fails for one in children))
        return _VALUE

    def _steps(self, nodes: list[Mapping[str, Json]], current: Query, *, catches: bool) -> _Outcome:
        fails = is_missing = is_null = False
        for node in nodes:
            judge = replace(self, is_of_nothing=is_null)
            found = judge.outcome(node, current)
            current = self.reader.read(node, current)
            # A field of null is null: what an index does not find is no error later.
            is_null = found.is_nothing if catches else is_null or found.is_null
            is_missing = not catches and (is_missing or found.is_missing)
            fails = fails or found.fails
        return _Outcome(is_missing, is_null, fails)
