"""YAML as an API server takes it: the first document, with Go's words for what is wrong.

As sigs.k8s.io/yaml `YAMLToJSON` and `YAMLToJSONStrict`: a key that is given twice is no fault, the
last one counts, and strict reading complains about it. What follows the first document is not
looked at; no document at all is null.

Most of what is sent as YAML is JSON. JSON that YAML cannot take for something else is read as such,
in a twentieth of the time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from functools import cmp_to_key
from typing import Any, Final, NoReturn

import yaml

from celadon.goyaml import yaml_scalars
from celadon.goyaml.yaml_events import EventReader, syntax_error
from celadon.kube import Json, JsonObject
from celadon.late_patterns import late_pattern

_ONLY_YAML_KNOWS: Final = late_pattern(rb'[\t\x7f]|\\[/u]|"[ \r]*\n[ \r\n]*:')
"""What the two read differently: tabs and escapes, and a key on a line before its colon."""

_LONGEST_KEY: Final = 512
"""Characters: YAML takes a key of 1024 bytes without a `?`, and escapes make it longer."""


class _NotAlike(ValueError):
    """JSON that YAML may read in another way."""


def first_document(data: bytes) -> yaml_scalars.YamlDocument:
    """Return the first document. Raises `UnreadableError`, whose `upstream` is the text for
    clients."""
    if data.startswith(b"{") and data.isascii() and not _ONLY_YAML_KNOWS.search(data):
        try:
            return yaml_scalars.YamlDocument(_read_json(data))
        except (ValueError, RecursionError):
            pass  # not JSON, or to be read with care
    try:
        try:
            return _first(data, quick=data.count(b"%TAG") <= yaml_scalars.MAX_QUICK_TAG_DIRECTIVES)
        except yaml_scalars.NotQuick:
            return _first(data, quick=False)
    except yaml.YAMLError as error:
        raise syntax_error(error, data.decode("utf-8", "replace")) from error


def _first(data: bytes, *, quick: bool) -> yaml_scalars.YamlDocument:
    """Return the first document. Raises NotQuick, UnreadableError, yaml.YAMLError."""
    noticed: list[yaml_scalars.RepeatedKey] = []
    reader = EventReader(data, noticed, quick=quick)
    try:
        for _, value in reader.documents():
            reader.finish_document()
            return yaml_scalars.YamlDocument(value, tuple(item.text for item in noticed))
    except (yaml_scalars.TooDeep, yaml_scalars.UnknownAnchor):
        raise
    except yaml_scalars.UnreadableError:
        reader.finish_document()
        raise
    return yaml_scalars.YamlDocument(None)


def _read_json(data: bytes) -> object:
    value = _JSON.decode(data.decode(json.detect_encoding(data), "surrogatepass"))
    if data.count(b"{") + data.count(b"[") > yaml_scalars.MAX_DEPTH:  # it may be nested too deeply
        try:
            yaml_scalars.check_depth(value, 1)
        except yaml_scalars.UnreadableError:
            raise _NotAlike from None
    return value


def _distinct(pairs: list[tuple[str, object]]) -> JsonObject:
    result = dict(pairs)
    if len(result) != len(pairs) or max(map(len, result), default=0) > _LONGEST_KEY:
        raise _NotAlike
    return result


def _refuse(_: str) -> NoReturn:
    raise _NotAlike


_JSON: Final = json.JSONDecoder(
    object_pairs_hook=_distinct,
    parse_int=yaml_scalars.integer_or_double,
    parse_float=_refuse,
    parse_constant=_refuse,
)
"""Made once: that takes as long as reading half a kilobyte."""


# --- Yaml writer -------------------------------------------------------------
#
# JSON values as YAML, as sigs.k8s.io/yaml `JSONToYAML` writes them.
#
# libyaml chooses between the styles that are possible, as Go's port of it does; what is decided
# here is what goes into its events: the order of members, the texts of numbers, and which texts
# must not be written plain because they would be read as something else. As
# `goyaml.v2/{encode,sorter}.go`.

_DUMPER: Final = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
_BOTH: Final = (True, True)
_BASE_60: Final = late_pattern(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])++(?:\.[0-9_]*)?")
_TIME: Final = late_pattern(
    r"([0-9]{4}-[0-9]{1,2}-[0-9]{1,2})"
    r"(?:[Tt]([0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| ([0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})(?:[.,][0-9]+)?)?"
)
_POSITIONAL: Final = range(-4, 6)
"""Powers of ten that strconv `FormatFloat(v, 'g', -1, 64)` writes without an exponent."""


def yaml_text(value: Json, *, is_sorted: bool = True) -> str:
    """Return a JSON value as one document, without `---`; the members of objects as given unless
    they are to be sorted."""
    text: str = yaml.emit(_document(value, is_sorted), Dumper=_DUMPER, allow_unicode=True)
    return text.removesuffix("...\n")


def _document(value: object, is_sorted: bool) -> Iterator[yaml.Event]:
    yield yaml.StreamStartEvent(encoding=None)
    yield yaml.DocumentStartEvent(explicit=False)
    yield from _events(value, is_sorted)
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _events(value: Any, is_sorted: bool) -> Iterator[yaml.Event]:
    """Yield the events of a value, by a stack in place of generators in generators, through which
    each event would climb."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, yaml.Event):
            yield item
        elif isinstance(item, dict):
            yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=False)
            pending.append(yaml.MappingEndEvent())
            keys = sorted(item, key=_ORDER, reverse=True) if is_sorted else reversed(item)
            for key in keys:
                pending += (item[key], _text(key))
        elif isinstance(item, list):
            yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False)
            pending.append(yaml.SequenceEndEvent())
            pending += reversed(item)
        elif isinstance(item, str):
            yield _text(item)
        else:
            yield yaml.ScalarEvent(None, None, _BOTH, _plain(item))


def _compare(a: str, b: str) -> int:
    """Letters after everything else, runs of digits by the number they are."""
    for i, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return _compare_at(a, b, i)
    return len(a) - len(b)


def _compare_at(a: str, b: str, i: int) -> int:
    """`i` is where the texts begin to differ."""
    if a[i].isalpha() or b[i].isalpha():
        both = a[i].isalpha() and b[i].isalpha()
        return ord(a[i]) - ord(b[i]) if both else 1 if a[i].isalpha() else -1
    lead = "1" if "0" in (a[i], b[i]) and a[:i].rstrip("0")[-1:].isdecimal() else ""
    left, right = (_digits(text, i) for text in (a, b))
    numbers = _int64(lead + left) - _int64(lead + right)
    return numbers or len(left) - len(right) or ord(a[i]) - ord(b[i])


def _int64(digits: str) -> int:
    """Return the number that go-yaml makes of any number of digits: it loses the upper bits."""
    number = 0
    for start in range(0, len(digits), _AT_ONCE):
        some = digits[start : start + _AT_ONCE]
        number = (number * 10 ** len(some) + int(some)) % (1 << 64)
    return number - (number >> 63 << 64)


_AT_ONCE: Final = 18
"""Digits of which Python makes numbers that are still small."""


def _digits(text: str, start: int) -> str:
    end = start
    while end < len(text) and text[end].isdecimal() and text[end].isascii():
        end += 1
    return text[start:end]


_ORDER: Final = cmp_to_key(_compare)


def _plain(value: bool | int | float | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return go_float(value) if isinstance(value, float) else str(value)


def _text(text: str) -> yaml.ScalarEvent:
    style = None
    if "\n" in text:
        style = "|"
    elif not _is_text(text):
        style = '"'
    return yaml.ScalarEvent(None, None, _BOTH, text, style=style)


def _is_text(text: str) -> bool:
    """Return whether it would be read as text without quotes."""
    try:
        if not isinstance(yaml_scalars.resolve_plain(text), str):
            return False
    except yaml_scalars.NotJsonError:
        return False
    return _BASE_60.fullmatch(text) is None and not _is_time(text)


def _is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    clock = match[2] or match[3] or "0:0:0"
    try:
        datetime.strptime(f"{match[1]} {clock}", "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return False
    return True


def go_float(value: float) -> str:
    """Return the number as `FormatFloat(value, 'g', -1, 64)`: `1.5`, `1e+06`, `1.2345678e+07`."""
    match = yaml_scalars.DECIMAL_PARTS.fullmatch(repr(value))
    if match is None:
        return {"inf": ".inf", "-inf": "-.inf"}.get(repr(value), ".nan")
    sign, whole, fraction, power = match.groups()
    fraction = "" if fraction in (None, "0") else fraction
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return f"{sign}0"
    exponent = int(power or 0) + len(digits) - len(fraction) - 1
    digits = digits.rstrip("0")
    if exponent in _POSITIONAL:
        return f"{sign}{_positional(digits, exponent)}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{exponent:+03d}"


def _positional(digits: str, exponent: int) -> str:
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
