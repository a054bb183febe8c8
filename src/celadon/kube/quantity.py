"""Resource quantities (`500m`, `1.5Gi`), and lists of them by resource name."""

from __future__ import annotations

import contextlib
import decimal
import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import field, replace
from decimal import Decimal
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import HUGE_PAGES
from celadon.late_patterns import late_pattern
from celadon.memoization import remembering
from celadon.records import dataclass

__all__ = [
    "Quantity",
    "QuantityError",
    "ResourceList",
    "from_int",
    "has_own_needs",
    "parse",
    "parse_amounts",
    "pod_needs",
    "qos_class",
    "same_amount",
]


# --- Quantity ----------------------------------------------------------------
#
# Resource quantities: `500m`, `1.5Gi`, `12e6`, as k8s.io/apimachinery `pkg/api/resource`.
#
# A quantity is a number and the family of suffixes it was written with. The number is held in
# one of two forms, and which one it is can be observed (`is_integer` is never true of the
# second):
#
# * small: an int64 `mantissa` times ten to the power of `scale`; * exact: a `Decimal` of any
# precision, used where the small form does not fit.
#
# `parse` keeps a text that is canonical already by a cheap test and prints it again; any other
# text is printed in canonical form: no fraction, the largest suffix that leaves an integer.
# Facts and texts are those of Kubernetes 1.36.

MIN_INT64: Final = -(1 << 63)
MAX_INT64: Final = (1 << 63) - 1

NANO: Final = -9
MILLI: Final = -3

#: Significant digits that always fit an int64 (upstream `maxInt64Factors`).
_MAX_SMALL_DIGITS: Final = 18
#: The same for a number that is still to be multiplied by a binary suffix, before its own share.
_MAX_BINARY_DIGITS: Final = 15
#: No quantity may need more digits than this: more than any request can carry.
_MAX_DIGITS: Final = 4_000_000
#: Scales that are not further apart are compared as whole numbers.
_MAX_APART: Final = 40

#: Exact arithmetic: whatever would be rounded is an error instead.
EXACT: Final = decimal.Context(
    prec=_MAX_DIGITS,
    rounding=decimal.ROUND_UP,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
    traps=[decimal.InvalidOperation, decimal.Inexact, decimal.Overflow],
)
_ROUNDING: Final = decimal.Context(
    prec=_MAX_DIGITS,
    rounding=decimal.ROUND_UP,
    Emin=decimal.MIN_EMIN,
    Emax=decimal.MAX_EMAX,
    traps=[decimal.InvalidOperation, decimal.Overflow],
)

_FORMAT_WRONG: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_NUMERIC: Final = "unable to parse numeric part of quantity"
_SUFFIX: Final = "unable to parse quantity's suffix"

#: Unlike the pattern that the error text shows, digits are not required.
_PARTS: Final = late_pattern(
    r"(?P<number>(?P<sign>[+-]?)0*+(?P<digits>[0-9]*+)(?:\.(?P<fraction>[0-9]*+))?+)"
    r"(?P<suffix>[eEinumkKMGTP]*+[-+]?[0-9]*+)"
)
_EXPONENT: Final = late_pattern(r"[eE](?P<sign>[+-]?)0*(?P<digits>[0-9]{0,19})")

_BITS: Final = 64
"""Of an int64. A decimal number that ends with so many zeros does so in binary, too."""

_new: Final = object.__new__


class QuantityError(MalformedText):
    """A text that is no quantity, or arithmetic beyond all bounds."""


class Format(enum.Enum):
    """Says how a quantity is written; the value is upstream's name."""

    DECIMAL_EXPONENT = "DecimalExponent"
    BINARY_SI = "BinarySI"
    DECIMAL_SI = "DecimalSI"
    NONE = ""
    """That of an amount which is null."""


DECIMAL_SUFFIXES: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
"""Suffix to power of ten."""

BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
"""Suffix to power of two."""

_DECIMAL_SUFFIX_OF: Final = {power: suffix for suffix, power in DECIMAL_SUFFIXES.items()}
_BINARY_SUFFIX_OF: Final = {power: suffix for suffix, power in BINARY_SUFFIXES.items()}

_AT_ONCE: Final = frozenset({0, 1, 2, 3, 6, 9})
"""Powers of ten that Go multiplies by in one step."""


# House rule 9: not frozen, because arithmetic takes four times as long then. Nobody assigns to one
# but `as_decimal`, which remembers what it computed.
@dataclass(slots=True, eq=False)
class Quantity:
    """A number with the format it prints in. Compare with `compare`, never with `==`.

    `exact` is None in the small form. `text` is the text it was parsed from, where that prints
    again; "" means the canonical form.
    """

    mantissa: int
    scale: int = 0
    format: Format = Format.DECIMAL_SI
    exact: Decimal | None = None
    text: str = ""
    _decimal: Decimal | None = field(default=None, init=False, repr=False)

    def as_int64(self) -> int | None:
        """Return the value, where upstream takes it for an integer: only in the small form."""
        if self.exact is not None or self.scale < 0:
            return None
        return _scaled_up(self.mantissa, self.scale)

    @property
    def is_integer(self) -> bool:
        """Return whether it fits an int64 without a fraction."""
        return self.as_int64() is not None

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        value: int | Decimal = self.mantissa if self.exact is None else self.exact
        return (value > 0) - (value < 0)

    def as_decimal(self) -> Decimal:
        """Return the exact value, without its format."""
        if self._decimal is None:
            self._decimal = self.exact
            if self._decimal is None:
                whole = Decimal(self.mantissa)
                self._decimal = EXACT.scaleb(whole, Decimal(self.scale)) if self.scale else whole
        return self._decimal

    def int64_value(self, digits: int = 0) -> int:
        """Return the number rounded away from zero, with so many digits behind the point counted as
        whole ones; of what no int64 can hold the lowest bits, as Go's `Value` and, with three,
        `MilliValue`; or nothing, where Go multiplies by ten again and again."""
        value = self.as_decimal()
        if digits:
            value = EXACT.scaleb(value, Decimal(digits))
        if _exponent_of(value) >= _BITS:
            return 0
        whole = value.copy_abs().to_integral_value(decimal.ROUND_UP, context=EXACT)
        if whole > MAX_INT64 and self.exact is None and self.scale + digits not in _AT_ONCE:
            return 0
        low = int(EXACT.remainder(whole, Decimal(1 << 64)))
        low -= (low >> 63) << 64
        wrapped = -low if value.is_signed() else low
        return MIN_INT64 if wrapped > MAX_INT64 else wrapped

    def approximate_float(self) -> float:
        """Mantissa and power of ten multiplied as float64, which may be off in the last place."""
        if self.exact is None:
            base, exponent = float(self.mantissa), self.scale
        else:
            exponent = _exponent_of(self.exact)
            base = float(EXACT.scaleb(self.exact, Decimal(-exponent))) + 0.0  # -0 is 0
        return base if exponent == 0 else base * _power_of_ten(exponent)

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1; formats do not count."""
        if self.exact is None and other.exact is None:
            apart = self.scale - other.scale
            if apart == 0:
                return (self.mantissa > other.mantissa) - (self.mantissa < other.mantissa)
            if -_MAX_APART <= apart <= _MAX_APART:
                mine = self.mantissa * 10**apart if apart > 0 else self.mantissa
                theirs = other.mantissa * 10**-apart if apart < 0 else other.mantissa
                return (mine > theirs) - (mine < theirs)
        left, right = self.exact or self.as_decimal(), other.exact or other.as_decimal()
        return -1 if left < right else int(left > right)

    def add(self, other: Quantity) -> Quantity:
        """Return the sum, in the format of this quantity unless this is zero."""
        if self.exact is None is other.exact and self.scale == other.scale and self.mantissa:
            total = self.mantissa + other.mantissa
            if MIN_INT64 <= total <= MAX_INT64:
                # not by its constructor: sums take 1.4 times as long then
                quantity = _new(Quantity)
                quantity.mantissa, quantity.scale, quantity.format = total, self.scale, self.format
                quantity.exact, quantity.text, quantity._decimal = None, "", None
                return quantity
        is_zero = self.mantissa == 0 and not self.exact
        chosen = other.format if is_zero else self.format
        small = _small_sum(self, other, other.mantissa)
        if small is not None:
            return Quantity(small[0], small[1], chosen)
        left, right = self.exact or self.as_decimal(), other.exact or other.as_decimal()
        return Quantity(0, 0, chosen, _exactly(EXACT.add, left, right))

    def sub(self, other: Quantity) -> Quantity:
        """Return the difference, in the format of this quantity unless this is zero. Upstream adds
        the negated int64, which the least one remains."""
        is_zero = self.mantissa == 0 and not self.exact
        chosen = other.format if is_zero else self.format
        least = other.mantissa == MIN_INT64
        small = _small_sum(self, other, MIN_INT64 if least else -other.mantissa)
        if small is not None:
            return Quantity(small[0], small[1], chosen)
        difference = _exactly(EXACT.subtract, self.as_decimal(), other.as_decimal())
        return _of_exact(difference, chosen)

    def round_up(self, scale: int) -> Quantity:
        """Round away from zero to a multiple of ten to the power of `scale`."""
        if self.exact is not None:
            return _of_exact(_rounded(self.exact, scale), self.format)
        if self.scale >= scale:
            return self
        step = min(scale - self.scale, _MAX_SMALL_DIGITS + 1)
        magnitude = -(-abs(self.mantissa) // 10**step)
        mantissa = -magnitude if self.mantissa < 0 else magnitude
        return replace(self, mantissa=mantissa, scale=scale, text="")

    def __str__(self) -> str:
        return self.text or _canonical_text(self)


def parse(text: str) -> Quantity:
    """Parse a quantity. Raises QuantityError with upstream's text."""
    if text == "0":
        return Quantity(0, text=text)
    parts = _PARTS.fullmatch(text)
    if parts is None or not text:
        raise QuantityError(_FORMAT_WRONG)
    whole = parts["digits"] or "0"
    fraction = parts["fraction"] or ""
    form, exponent = _interpret(parts["suffix"])
    small = _parse_small(parts["sign"], whole, fraction, form, exponent)
    if small is None:
        return _parse_exact(parts["number"], form, exponent)
    mantissa, scale, is_canonical = small
    return Quantity(mantissa, scale, form, text=text if is_canonical else "")


def from_int(value: int, form: Format = Format.DECIMAL_SI) -> Quantity:
    """Return an int64 as a quantity."""
    return Quantity(value, 0, form)


def _interpret(suffix: str) -> tuple[Format, int]:
    """Return the format and the power, of two for binary suffixes and else of ten."""
    if suffix in DECIMAL_SUFFIXES:
        return Format.DECIMAL_SI, DECIMAL_SUFFIXES[suffix]
    if suffix in BINARY_SUFFIXES:
        return Format.BINARY_SI, BINARY_SUFFIXES[suffix]
    exponent = _EXPONENT.fullmatch(suffix)
    if exponent is None or len(suffix) < 2 or not suffix[-1].isdigit():
        raise QuantityError(_SUFFIX)
    value = int(exponent["sign"] + (exponent["digits"] or "0"))
    if not MIN_INT64 <= value <= MAX_INT64:
        raise QuantityError(_SUFFIX)
    # upstream converts to int32, dropping the upper half
    return Format.DECIMAL_EXPONENT, (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _parse_small(
    sign: str, whole: str, fraction: str, form: Format, exponent: int
) -> tuple[int, int, bool] | None:
    """Mantissa, scale and whether the text is canonical; None where an int64 cannot hold it."""
    if form is Format.BINARY_SI:
        room = _MAX_BINARY_DIGITS - len(whole) - exponent * 3 // 10 - 1
        if fraction or room < 0:
            return None
        value = int(whole)
        mantissa, scale = value << exponent, 0
        is_canonical = value & 7 != 0
    else:
        scale = exponent - len(fraction)
        digits = whole + fraction
        if len(digits) > _MAX_SMALL_DIGITS or scale < NANO:
            return None
        mantissa = int(digits)
        is_canonical = scale % 3 == 0 and digits[0] != "0" and not digits.endswith("000")
    return (-mantissa if sign == "-" else mantissa), scale, is_canonical


def _parse_exact(number: str, form: Format, exponent: int) -> Quantity:
    if not any(char.isdigit() for char in number):
        raise QuantityError(_NUMERIC)
    if form is Format.BINARY_SI:
        value = _exactly(EXACT.multiply, Decimal(number), Decimal(1 << exponent))
    else:
        value = _exactly(EXACT.scaleb, Decimal(number), Decimal(exponent))
    if value:
        value = _rounded(value, NANO)
    if form is Format.BINARY_SI:
        if value.copy_abs() > MAX_INT64:
            value = Decimal(MAX_INT64).copy_sign(value)
        elif 0 < value.copy_abs() < 1:
            form = Format.DECIMAL_SI
    return _of_exact(value, form)


def _of_exact(value: Decimal, form: Format) -> Quantity:
    return Quantity(0, 0, form, exact=value)


def _small_sum(a: Quantity, b: Quantity, addend: int) -> tuple[int, int] | None:
    """Mantissa and scale of a + addend * 10**b.scale; None where it leaves the small form."""
    if a.exact is not None or b.exact is not None:
        return None
    if a.scale == b.scale:
        total = a.mantissa + addend
        return (total, a.scale) if MIN_INT64 <= total <= MAX_INT64 else None
    if addend == 0:
        return a.mantissa, a.scale
    if a.mantissa == 0:
        return addend, b.scale
    scale = min(a.scale, b.scale)
    left = _scaled_up(a.mantissa, a.scale - scale)
    right = _scaled_up(addend, b.scale - scale)
    if left is None or right is None or not MIN_INT64 <= left + right <= MAX_INT64:
        return None
    return left + right, scale


def _scaled_up(mantissa: int, power: int) -> int | None:
    """mantissa * 10**power if that is an int64."""
    if mantissa == 0:
        return 0
    if power > _MAX_SMALL_DIGITS:
        return None
    value = mantissa * 10**power
    return int(value) if MIN_INT64 <= value <= MAX_INT64 else None


def _exactly(operation: Callable[[Decimal, Decimal], Decimal], a: Decimal, b: Decimal) -> Decimal:
    try:
        return operation(a, b)
    except decimal.DecimalException:
        raise QuantityError(_NUMERIC) from None


def _rounded(value: Decimal, scale: int) -> Decimal:
    try:
        return value.quantize(Decimal((0, (1,), scale)), context=_ROUNDING)
    except decimal.DecimalException:
        raise QuantityError(_NUMERIC) from None


def _exponent_of(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def _power_of_ten(exponent: int) -> float:
    """Go's `math.Pow10`, which multiplies or divides two table entries."""
    tens, ones = divmod(abs(exponent), 32)
    if exponent > 308:
        return float("inf")
    if exponent >= 0:
        return float(f"1e{32 * tens}") * float(f"1e{ones}")
    return float(f"1e-{32 * tens}") / float(f"1e{ones}") if exponent >= -323 else 0.0


def _canonical_text(quantity: Quantity) -> str:
    if quantity.sign == 0:
        return "0"
    form = quantity.format
    if form is Format.BINARY_SI:
        value = quantity.as_decimal()
        if value.copy_abs() >= 1024 and value == _rounded(value, 0):
            return _binary_text(int(value))
        form = Format.DECIMAL_SI
    digits, exponent = _digits_and_exponent(quantity)
    exponent -= (padding := exponent % 3)
    number = ("-" if quantity.sign < 0 else "") + digits + "0" * padding
    if form is Format.DECIMAL_EXPONENT:
        return f"{number}e{exponent}" if exponent else number
    # a power without a suffix is lost, as upstream does until 1.36: `1000E` prints `1`
    return number + _DECIMAL_SUFFIX_OF.get(exponent, "")


def _digits_and_exponent(quantity: Quantity) -> tuple[str, int]:
    """Return the digits without zeros at the end, and the power of ten to multiply them by."""
    if quantity.exact is None:
        written, exponent = str(abs(quantity.mantissa)), quantity.scale
    else:
        written, _, power = f"{quantity.exact.copy_abs():e}".partition("e")
        whole, _, fraction = written.partition(".")
        written, exponent = whole + fraction, int(power) - len(fraction)
    digits = written.rstrip("0")
    return digits, exponent + len(written) - len(digits)


def _binary_text(value: int) -> str:
    power = 0
    while value % 1024 == 0:
        value //= 1024
        power += 10
    return f"{Decimal(value):f}{_BINARY_SUFFIX_OF.get(power, '')}"


# --- Resource amounts --------------------------------------------------------
#
# Arithmetic on resource lists (resource name to quantity text) as pods need it.

ResourceList = Mapping[str, str]
"""Amounts as text by the name of the resource, as `requests` and `limits` have them."""

_RESOURCE_AMOUNTS_PARTS: Final = ("requests", "limits")


@remembering(4096)
def parse_amounts(text: str) -> Quantity:
    """Remembered, for the same few texts come again and again; QuantityError for what is none."""
    return parse(text)


@remembering(4096)
def rounded_to_milli(text: str) -> str:
    """Resource lists hold nothing finer than a thousandth; what is finer is rounded up."""
    return str(parse_amounts(text).round_up(MILLI))


def is_positive(text: str) -> bool:
    """QuantityError for what is no quantity."""
    return parse_amounts(text).sign > 0


def same_amount(a: str, b: str) -> bool:
    """`1` and `1000m` are; QuantityError for what is no quantity."""
    return a == b or parse_amounts(a).compare(parse_amounts(b)) == 0


def total(lists: Iterable[ResourceList]) -> dict[str, Quantity]:
    """Per resource the sum over all lists that name it."""
    sums: dict[str, Quantity] = {}
    for amounts in lists:
        for name, text in amounts.items():
            amount = parse_amounts(text)
            sums[name] = sums[name].add(amount) if name in sums else amount
    return sums


def raise_to(amounts: dict[str, Quantity], floor: Mapping[str, Quantity]) -> None:
    """Per resource the larger of the two. Changes `amounts`."""
    for name, amount in floor.items():
        if name not in amounts or amounts[name].compare(amount) < 0:
            amounts[name] = amount


def pod_total(spec: JsonObject, part: str) -> dict[str, Quantity]:
    """Return what the containers of a pod need together: `part` is `limits` or `requests`.

    Restartable init containers run beside the others; any other init container runs alone, beside
    the restartable ones before it.
    """

    def of(container: JsonObject) -> ResourceList:
        amounts: ResourceList = (container.get("resources") or {}).get(part) or {}
        return amounts

    containers = [of(container) for container in spec.get("containers") or ()]
    beside: list[ResourceList] = []
    floors = []
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            beside.append(of(container))
            floors.append(total(beside))
        else:
            floors.append(total([*beside, of(container)]))
    amounts = total([*containers, *beside])
    for floor in floors:
        raise_to(amounts, floor)
    return amounts


def is_of_pods(name: str) -> bool:
    """Return whether a pod may say for itself how much it needs of a resource, beside its
    containers."""
    return name in {"cpu", "memory"} or name.startswith(HUGE_PAGES)


def has_own_needs(spec: JsonObject) -> bool:
    """Return whether a pod says for itself what it needs of anything."""
    resources = spec.get("resources") or {}
    return any(
        is_of_pods(name) for part in _RESOURCE_AMOUNTS_PARTS for name in resources.get(part) or ()
    )


def pod_needs(spec: JsonObject, part: str, *, overhead: bool = True) -> dict[str, Quantity]:
    """Return what a pod needs: what it says for itself, else what its containers need, and its
    overhead. A limit that is not there has no overhead either."""
    amounts = pod_total(spec, part)
    resources = (spec.get("resources") or {}).get(part) or {}
    amounts.update(
        (name, parse_amounts(amount)) for name, amount in resources.items() if is_of_pods(name)
    )
    extra = spec.get("overhead") or {} if overhead else {}
    for name, amount in extra.items():
        if name in amounts:
            amounts[name] = amounts[name].add(parse_amounts(amount))
        elif part == "requests":
            amounts[name] = parse_amounts(amount)
    return amounts


# --- Qos classes -------------------------------------------------------------
#
# The quality of service of a pod: what its containers ask for, and may have at most.
#
# As k8s.io/kubernetes `pkg/apis/core/helper/qos`.

QOS_RESOURCES: Final = ("cpu", "memory")
"""The resources that count."""


def _qos_amounts(resources: JsonObject, part: str) -> dict[str, str]:
    amounts = resources.get(part) or {}
    return {
        name: amounts[name]
        for name in QOS_RESOURCES
        if name in amounts and is_positive(amounts[name])
    }


def qos_class(spec: JsonObject) -> str:
    """`BestEffort`, `Burstable` or `Guaranteed`; only positive cpu and memory count."""
    if spec.get("resources"):
        considered = [spec["resources"]]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        considered = [container.get("resources") or {} for container in containers]
    limited = [_qos_amounts(container, "limits") for container in considered]
    requested = [_qos_amounts(container, "requests") for container in considered]
    if not any(limited) and not any(requested):
        return "BestEffort"
    if any(len(amounts) != len(QOS_RESOURCES) for amounts in limited):
        return "Burstable"
    if limited == requested:
        return "Guaranteed"
    limits, requests = total(limited), total(requested)
    equal = len(limits) == len(requests) and all(
        name in limits and same_amount(str(limits[name]), str(amount))
        for name, amount in requests.items()
    )
    return "Guaranteed" if equal else "Burstable"


# --- As they were sent -------------------------------------------------------
#
# Go keeps a number and its power of ten as they were written, and prints them with `%#v`. Servers
# before 1.34 show that in errors; nobody else asks.

_sent: Final[ContextVar[dict[str, str] | None]] = ContextVar("celadon_sent", default=None)


def remember_sent() -> None:
    """Remember of this task, and of tasks that it begins, how quantities that it reads were
    written."""
    _sent.set({})


def note_sent(canonical: str, text: str) -> None:
    """Remember how a quantity was written that was not in canonical form."""
    sent = _sent.get()
    if sent is not None:
        sent[canonical] = text


@contextlib.contextmanager
def quantities_of_store() -> Iterator[None]:
    """Within it nothing is known of how quantities were written: stores have canonical ones."""
    token = _sent.set(None)
    try:
        yield
    finally:
        _sent.reset(token)


def parse_sent(canonical: str) -> Quantity:
    """Return a quantity as it was written, as far as anybody knows. QuantityError for none."""
    sent = (_sent.get() or {}).get(canonical, canonical)
    return Quantity(0, format=Format.NONE) if sent == NULL else parse_amounts(sent)


def note_rounded(canonical: str, rounded: str) -> None:
    """Remember of a quantity that was rounded how it was written before that."""
    sent = _sent.get()
    if sent is not None and rounded != canonical:
        sent[rounded] = sent.get(canonical, canonical)


NULL: Final = "null"
"""What is remembered of an amount that is null: it is 0, without a format."""
