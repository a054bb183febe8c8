"""How a controller replaces its pods: strategies with numbers or percentages."""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_strconv import parse_int
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.field_checks import NEGATIVE, Errors, each, not_negative

DEPLOYMENT_STRATEGIES: Final = ("Recreate", "RollingUpdate")
DAEMON_SET_STRATEGIES: Final = ("RollingUpdate", "OnDelete")
OVER_100: Final = "must not be greater than 100%"

_LARGEST: Final = 2**63 - 1

IntOrPercent = int | str


def int_or_percent(path: FieldPath, value: IntOrPercent) -> Errors:
    """An integer that is not negative, or `25%`."""
    if isinstance(value, str):
        yield from each(path, value, text_rules.percent(value))
    elif value < 0:
        yield fieldpath.invalid(path, value, NEGATIVE)


def at_most_100_percent(path: FieldPath, value: IntOrPercent) -> Errors:
    """Only percentages are looked at."""
    if isinstance(value, str) and not text_rules.percent(value) and amount(value) > 100:
        yield fieldpath.invalid(path, value, OVER_100)


def amount(value: IntOrPercent) -> int:
    """The number, with or without a percent sign; 0 for what is none, and the largest there is for
    percentages that are too large."""
    if isinstance(value, int):
        return value
    digits = value.removesuffix("%")
    if digits.isascii() and digits.isdecimal() and len(digits) < 19:
        return int(digits)
    is_percent = not text_rules.percent(value)
    try:
        return parse_int(digits if is_percent else value)
    except ValueError:
        return _LARGEST if is_percent else 0


def deployment_strategy(path: FieldPath, strategy: JsonObject) -> Errors:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    at = path.child("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            yield fieldpath.forbidden(at, detail)
    elif kind != "RollingUpdate":
        shown = printed_strategy(kind, rolling, MaxUnavailable=0, MaxSurge=0)
        yield fieldpath.not_supported(path, shown, DEPLOYMENT_STRATEGIES)
    elif rolling is None:
        yield fieldpath.required(at, "this should be defaulted and never be nil")
    else:
        unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
        yield from int_or_percent(at.child("maxUnavailable"), unavailable)
        yield from int_or_percent(at.child("maxSurge"), surge)
        if amount(unavailable) == 0 and amount(surge) == 0:
            detail = "may not be 0 when `maxSurge` is 0"
            yield fieldpath.invalid(at.child("maxUnavailable"), unavailable, detail)
        yield from at_most_100_percent(at.child("maxUnavailable"), unavailable)


def daemon_set_strategy(path: FieldPath, strategy: JsonObject) -> Errors:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    at = path.child("rollingUpdate")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        shown = printed_strategy(kind, rolling, MaxUnavailable=0, MaxSurge=0)
        yield fieldpath.not_supported(path, shown, DAEMON_SET_STRATEGIES)
    elif rolling is None:
        yield fieldpath.required(at)
    else:
        numbers = {field: rolling.get(field, 0) for field in ("maxUnavailable", "maxSurge")}
        for field, value in numbers.items():
            yield from int_or_percent(at.child(field), value)
        for field, value in numbers.items():
            yield from at_most_100_percent(at.child(field), value)
        unavailable, surge = map(amount, numbers.values())
        if unavailable and surge:
            detail = "may not be set when maxUnavailable is non-zero"
            yield fieldpath.invalid(at.child("maxSurge"), numbers["maxSurge"], detail)
        elif not unavailable and not surge:
            detail = "cannot be 0 when maxSurge is 0"
            yield fieldpath.required(at.child("maxUnavailable"), detail)


def stateful_set_strategy(path: FieldPath, strategy: JsonObject) -> Errors:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    at = path.child("rollingUpdate")
    if not kind:
        yield fieldpath.required(path)
    elif kind == "OnDelete":
        if rolling is not None:
            shown = printed_strategy(kind, rolling, Partition=0, MaxUnavailable=None)
            detail = "only allowed for updateStrategy 'RollingUpdate'"
            yield fieldpath.invalid(at, shown["RollingUpdate"], detail)
    elif kind != "RollingUpdate":
        shown = printed_strategy(kind, rolling, Partition=0, MaxUnavailable=None)
        yield fieldpath.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None:
        yield from not_negative(rolling, at, "partition")
        unavailable = rolling.get("maxUnavailable")
        if unavailable is not None:
            where = at.child("maxUnavailable")
            yield from int_or_percent(where, unavailable)
            if amount(unavailable) == 0:
                yield fieldpath.invalid(where, unavailable, "cannot be 0")
            yield from at_most_100_percent(where, unavailable)


def printed_strategy(kind: str, rolling: JsonObject | None, **absent: int | None) -> dict[str, Any]:
    """As Go prints the struct, whose fields have no JSON names; `absent` are the fields, with what
    each shows that was not given."""
    shown: dict[str, Any] = {"Type": NamedText(kind), "RollingUpdate": None}
    if rolling is not None:
        shown["RollingUpdate"] = {
            name: rolling.get(name[0].lower() + name[1:], zero) for name, zero in absent.items()
        }
    return shown
