"""CEL070 to CEL079: what expressions cost.

Two bounds are asked, and the lower one counts, since each is loose in its own way. The estimate
knows the sizes of lists and texts that `LargeObject` gives it, but multiplies nested loops even
where the inner lists share the size of the object. The bound of a program knows the total, but
takes every character for a list item.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.admission import policy_limits
from celadon.admission.lint.model.findings import Severity, Spot
from celadon.admission.lint.model.lint_rule import Rule
from celadon.admission.lint.model.policy_expressions import PolicyExpression, Role
from celadon.admission.lint.model.rule_reports import Report
from celadon.admission.lint.model.subjects import Bundle
from celadon.cel import ProgramError, types
from celadon.cel.extend import Range
from celadon.cel.syntax import Comprehension, Expr, walk

_ITEM_SIZE: Final = 512
"""Characters of JSON of a list item, on average: containers, rules, endpoints."""
_MOST_TEXT: Final = 1024
"""Characters of one text."""
_MOST_INNER: Final = 20
"""Items of a list inside an item of a list."""
_ENTRIES: Final = frozenset({"@items", "@keys", "@values"})
"""The steps into lists and maps; the entries of what has no type are keys to the estimator."""


class LargeObject:
    """The sizes in an object of so many characters."""

    def __init__(self, size: int) -> None:
        self._items = max(size // _ITEM_SIZE, 1)

    def size(self, path: tuple[str, ...], type_: types.Type) -> Range | None:
        """Of a value that may be a list, a map or a text: nobody has declared what it is."""
        if type_.kind is types.Kind.STRING:
            return Range(0, _MOST_TEXT)
        return Range(0, self._items if _ENTRIES.isdisjoint(path) else _MOST_INNER)


def _expensive(bundle: Bundle) -> Iterator[Report]:
    size = bundle.settings.large_object
    for case in bundle.policies:
        for one in case.expressions:
            if one.role is Role.MESSAGE:
                continue  # it would only be replaced
            cost = _cost(one, size)
            if cost > policy_limits.PER_CALL_COST:
                yield Report(
                    Spot(case.document, one.path),
                    f"for an object of {size // 1024} KiB this may cost {cost:.1g}, more than the "
                    f"{policy_limits.PER_CALL_COST:.0g} at which evaluation stops",
                    "look at fewer elements: filter before nested loops",
                )


def _cost(one: PolicyExpression, size: int) -> float:
    """What the expression may cost; 0 if it does not run."""
    if one.checked is None:
        return 0.0
    least, estimated = one.env.estimate(one.checked, LargeObject(size))
    if least > policy_limits.PER_CALL_COST or estimated <= policy_limits.PER_CALL_COST:
        return float(least)
    if not any(map(_is_nested, walk(one.checked.root))):
        return float(least)  # one loop, whose bounds are known to be loose
    try:
        program = one.env.program(one.checked)
    except ProgramError:
        return 0.0
    return min(float(estimated), program.cost_bound(size // _ITEM_SIZE))


def _is_nested(node: Expr) -> bool:
    """Whether it is a loop with another loop in it."""
    if node.__class__ is not Comprehension:
        return False
    return any(inner.__class__ is Comprehension for inner in walk(node.step))


RULES: Final = (
    Rule(
        "CEL070",
        "expensive",
        Severity.WARNING,
        "Evaluation stops with an error when an expression costs more than its limit. The cost "
        "grows with the object; this expression may reach the limit for one that is large but not "
        "unusual. Nested loops over lists of the object are the usual reason.",
        'validations:\n- expression: "object.spec.template.spec.containers.all(a, object.spec.'
        "template.spec.containers.all(b, object.spec.template.spec.containers.all(c, "
        'a.name + b.name != c.name)))"\n',
        "validations:\n- expression: object.spec.template.spec.containers.all(c, c.name != 'x')\n",
        _expensive,
    ),
)
