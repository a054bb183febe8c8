"""`kubernetes.quantity`: `quantity(string)`, `isQuantity`, `sign` and arithmetic.

Upstream: k8s.io/apiserver `pkg/cel/library/quantity.go`. `add` and `sub` return a value that
upstream holds behind a pointer, which shows in equality: with such a value on the *right*, `==` is
`no such overload`. Hence two classes of one CEL type.
"""

from __future__ import annotations

from typing import Final

from celadon.cel import extend
from celadon.cel.value_functions import Remembered
from celadon.kube.library import costs
from celadon.kube.library.costs import declared, overloaded
from celadon.kube.quantity import Format, Quantity, QuantityError, from_int, parse

_QUANTITY: Final = costs.QUANTITY
_new: Final = object.__new__


class AnyQuantity(extend.Opaque):
    """A quantity in CEL, of either class. `==` works where the right side is a `ParsedQuantity`."""

    __slots__ = ("amount",)
    cel_type = _QUANTITY
    go_content = "*resource.Quantity"

    def __init__(self, amount: Quantity) -> None:
        self.amount = amount

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not ParsedQuantity:
            raise extend.no_such_overload()
        assert isinstance(other, ParsedQuantity)
        return self.amount.compare(other.amount) == 0

    __hash__ = None

    def display(self) -> str:
        """Return the canonical text."""
        return str(self.amount)


# INVARIANT (siblings): neither class derives from the other. Python would let the derived class's
# `__eq__` decide first, whichever side it stands on.


class ParsedQuantity(AnyQuantity):
    """Holds a quantity that `quantity(text)` has returned."""

    __slots__ = ()
    go_name = "cel.Quantity"


class ComputedQuantity(AnyQuantity):
    """A quantity that `add` or `sub` has returned."""

    __slots__ = ()
    go_name = "*cel.Quantity"


@Remembered
def _quantity(text: str) -> ParsedQuantity:
    try:
        return ParsedQuantity(parse(text))
    except QuantityError as error:
        raise extend.EvaluationError(str(error)) from None


@Remembered
def _is_quantity(text: str) -> bool:
    try:
        _quantity(text)
    except extend.EvaluationError:
        return False
    return True


def _from_int(number: int) -> Quantity:
    """Return the quantity of an int. Its format is seen when it is added to zero:
    `quantity('0').add(1000)` is `1e3`."""
    return from_int(number, Format.DECIMAL_EXPONENT)


def _add(a: AnyQuantity, b: AnyQuantity) -> ComputedQuantity:
    quantity = _new(ComputedQuantity)  # not by its constructor: as in `Quantity.add`
    try:
        quantity.amount = a.amount.add(b.amount)
    except QuantityError as error:
        raise extend.EvaluationError(str(error)) from None
    return quantity


def _add_int(a: AnyQuantity, b: int) -> ComputedQuantity:
    return _add(a, ComputedQuantity(_from_int(b)))


def _sub(a: AnyQuantity, b: AnyQuantity) -> ComputedQuantity:
    try:
        return ComputedQuantity(a.amount.sub(b.amount))
    except QuantityError as error:
        raise extend.EvaluationError(str(error)) from None


def _sub_int(a: AnyQuantity, b: int) -> ComputedQuantity:
    return _sub(a, ComputedQuantity(_from_int(b)))


def _sign(quantity: AnyQuantity) -> int:
    return quantity.amount.sign


def _is_integer(quantity: AnyQuantity) -> bool:
    return quantity.amount.is_integer


def _as_integer(quantity: AnyQuantity) -> int:
    value = quantity.amount.as_int64()
    if value is None:
        raise extend.EvaluationError("cannot convert value to integer")
    return value


def _as_approximate_float(quantity: AnyQuantity) -> float:
    return quantity.amount.approximate_float()


def _is_less_than(a: AnyQuantity, b: AnyQuantity) -> bool:
    quantity, two = a.amount, b.amount
    if quantity.exact is None is two.exact and quantity.scale == two.scale:
        return quantity.mantissa < two.mantissa
    return quantity.compare(two) < 0


def _is_greater_than(a: AnyQuantity, b: AnyQuantity) -> bool:
    quantity, two = a.amount, b.amount
    if quantity.exact is None is two.exact and quantity.scale == two.scale:
        return quantity.mantissa > two.mantissa
    return quantity.compare(two) > 0


def _compare_to(a: AnyQuantity, b: AnyQuantity) -> int:
    return a.amount.compare(b.amount)


_ARITHMETIC: Final = (
    overloaded(
        declared(
            "Quantity.add(Quantity) -> Quantity",
            "quantity_add",
            _add,
            "The sum, in the receiver's format.",
            ("quantity('50k').add(quantity('20k')) == quantity('70k')", "true"),
            growth=extend.growth.single,
        ),
        declared(
            "Quantity.add(int) -> Quantity",
            "quantity_add_int",
            _add_int,
            "The sum with a whole number.",
            ("quantity('50k').add(20).asInteger()", "50020"),
            growth=extend.growth.single,
        ),
    ),
    overloaded(
        declared(
            "Quantity.sub(Quantity) -> Quantity",
            "quantity_sub",
            _sub,
            "The difference, in the receiver's format.",
            ("quantity('50k').sub(quantity('20k')) == quantity('30k')", "true"),
            growth=extend.growth.single,
        ),
        declared(
            "Quantity.sub(int) -> Quantity",
            "quantity_sub_int",
            _sub_int,
            "The difference to a whole number.",
            ("quantity('50k').sub(-50).asInteger()", "50050"),
            growth=extend.growth.single,
        ),
    ),
)

_COMPARISONS: Final = (
    declared(
        "Quantity.isLessThan(Quantity) -> bool",
        "quantity_is_less_than",
        _is_less_than,
        "Whether the quantity is less than another.",
        ("quantity('50M').isLessThan(quantity('50Mi'))", "true"),
    ),
    declared(
        "Quantity.isGreaterThan(Quantity) -> bool",
        "quantity_is_greater_than",
        _is_greater_than,
        "Whether the quantity is more than another.",
        ("quantity('50Mi').isGreaterThan(quantity('50M'))", "true"),
    ),
    declared(
        "Quantity.compareTo(Quantity) -> int",
        "quantity_compare_to",
        _compare_to,
        "-1, 0 or 1.",
        ("quantity('1Ki').compareTo(quantity('1024'))", "0"),
    ),
)

LIBRARY: Final = extend.Library(
    "kubernetes.quantity",
    functions=(
        declared(
            "quantity(string) -> Quantity",
            "string_to_quantity",
            _quantity,
            "The quantity a text stands for; an error if it is none.",
            ("quantity('1.5Gi').isGreaterThan(quantity('1G'))", "true"),
            cost=costs.FIRST,
            growth=extend.growth.single,
        ),
        declared(
            "isQuantity(string) -> bool",
            "is_quantity_string",
            _is_quantity,
            "Whether a text is a quantity that `quantity` takes.",
            ("isQuantity('1.3Gi')", "true"),
            ("isQuantity('200K')", "false"),
            cost=costs.FIRST,
        ),
        declared(
            "sign(Quantity) -> int",
            "quantity_sign",
            _sign,
            "-1, 0 or 1. This one is no method.",
            ("sign(quantity('-1'))", "-1"),
        ),
        declared(
            "Quantity.isInteger() -> bool",
            "quantity_is_integer",
            _is_integer,
            "Whether `asInteger` works; a fraction written out, even `.0`, prevents it.",
            ("quantity('1.5k').isInteger()", "true"),
            ("quantity('1.0').isInteger()", "false"),
        ),
        declared(
            "Quantity.asInteger() -> int",
            "quantity_as_integer",
            _as_integer,
            "The value as an int; an error where `isInteger` is false.",
            ("quantity('50k').asInteger()", "50000"),
        ),
        declared(
            "Quantity.asApproximateFloat() -> double",
            "quantity_as_float",
            _as_approximate_float,
            "The value as a double, which may lose precision.",
            ("quantity('50.703k').asApproximateFloat()", "50703.0"),
        ),
        *_ARITHMETIC,
        *_COMPARISONS,
    ),
)
