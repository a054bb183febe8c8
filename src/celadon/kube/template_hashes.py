"""The hash of a pod template, by which controllers name what they make of it.

It is a checksum of how Go prints the structure in memory, with the names and types of all fields
(k8s.io/kubernetes `pkg/controller/controller_utils.go`, `ComputeHash`). Which these are depends on
the release, so clusters of different releases give one template different hashes.
`data/template_structs.txt` has the fields; how values are printed, k8s.io/utils `dump` (`ForHash`)
says. Templates have been stored, so empty lists and maps are none, and quantities have their
canonical text.
"""

from __future__ import annotations

import functools
import pkgutil
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from celadon.kube.json_types import Json, JsonObject, compact
from celadon.kube.quantity import Quantity, parse
from celadon.kube.releases import current_release, parse_version, per_release
from celadon.kube.well_known_values import SUFFIX_LETTERS
from celadon.records import dataclass

_ROOT: Final = "v1.PodTemplateSpec"
_FNV_PRIME: Final = 0x01000193
_FNV_START: Final = 0x811C9DC5
_FNV_BITS: Final = 0xFFFFFFFF
_LONG: Final = 64
"""Longer texts are worked out by words."""
_FEW_SHAPES: Final = 64
"""A structure is met with so many choices of fields, or values, or is not worth remembering."""
_UNLIKE: Final = frozenset(
    {"v1.PodTemplateSpec", "v1.ObjectMeta", "v1.PodSpec", "v1.Container", "v1.EnvVar"}
)
"""Structures that are different in each template; others are remembered as a whole."""
_FEW_LOWS: Final = 16
"""To work out all low bytes of a word together takes as long as so many one by one."""
_LOWS: Final = 256
_IN_EACH: Final = sum(1 << 64 * low for low in range(_LOWS))
"""A number that has 1 in each of as many parts of 64 bits; times a byte, it has that in each."""
_ALL_LOWS: Final = sum(low << 64 * low for low in range(_LOWS))
_NOT_SET: Final = "<nil>"
_INLINE: Final = "+"
"""For a name in JSON: the members of the field stand beside those of the others."""
_WORD: Final = 1 << 64
"""Big numbers are printed in words of 64 bits, the lowest first."""


def template_hash(template: JsonObject, collisions: int | None = None) -> str:
    """Return a hash such as `6b474476c4`: the digits of a checksum in safe characters. `collisions`
    counts how often it was somebody else's already."""
    digest = _FNV_START
    for part in _parts(template):
        digest = part.after(digest)
    if collisions is not None:
        digest = _continued((collisions % (1 << 32)).to_bytes(8, "little"), digest)
    return safe_digits(digest)


def checksum(text: bytes, digest: int = _FNV_START) -> int:
    """FNV-1a of 32 bits of a text behind others with that `digest`, in a part of the time that it
    takes byte by byte: templates have most words in common."""
    first, *words = text.split(b" ")
    digest = _continued(first, digest)
    for word in words:
        behind = b" " + word
        is_long = len(behind) > _LONG
        digest = _continued(behind, digest) if is_long else _part(behind).after(digest)
    return digest


def _continued(text: bytes, digest: int) -> int:
    for byte in text:
        digest = (digest ^ byte) * _FNV_PRIME & _FNV_BITS
    return digest


class _Part:
    """A text that stands in many templates, and what it makes of the low byte of a checksum
    (`_made`). What is above the low byte is only multiplied (`_factor`)."""

    __slots__ = ("_factor", "_hashes", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._factor = pow(_FNV_PRIME, len(text), _FNV_BITS + 1)
        self._hashes: dict[int, int] = {}

    def after(self, digest: int) -> int:
        """Return the checksum of what has that `digest`, followed by this text."""
        low = digest & 0xFF
        own_digest = self._hashes.get(low)
        if own_digest is None:
            own_digest = self._own(low)
        return own_digest + (digest - low) * self._factor & _FNV_BITS

    def _own(self, low: int) -> int:
        """Work out one low byte, or all of them: a stream of manifests asks for all."""
        if len(self.text) > _LONG:
            digest = checksum(self.text, low)
        else:
            if len(self._hashes) == _FEW_LOWS:
                self._hashes = dict(enumerate(_of_all_lows(self.text)))
            digest = _continued(self.text, low)
        self._hashes[low] = digest
        return digest


_part: Final = functools.lru_cache(maxsize=512)(_Part)
"""Words and short values. A text of which all is known takes 17 KB."""


def _of_all_lows(text: bytes) -> array[int]:
    """Work as `_continued`, of each low byte: all in one number, whose parts do not touch each
    other, since 32 bits times the prime are fewer than 64."""
    digests, bits = _ALL_LOWS, _FNV_BITS * _IN_EACH
    for byte in text:
        digests = (digests ^ byte * _IN_EACH) * _FNV_PRIME & bits
    return array("Q", digests.to_bytes(8 * _LOWS, sys.byteorder))


def safe_digits(number: int) -> str:
    """Return the digits of a number as letters and digits that make no words."""
    return "".join(SUFFIX_LETTERS[ord(digit) % len(SUFFIX_LETTERS)] for digit in str(number))


def printed(template: JsonObject) -> str:
    """Return the text of which the hash is made."""
    return b"".join(part.text for part in _parts(template)).decode()


def _parts(template: JsonObject) -> Sequence[_Part]:
    """Return that text in pieces: between the values stands what all templates with the same fields
    have in common, and what is known of it is kept."""
    parts = [_BEGIN]
    _writer(_ROOT)(template, parts)
    return parts


# --- Structures --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Field:
    """Its name in Go, that in JSON, and its type."""

    name: str
    key: str
    type: str


@functools.cache
def _structs() -> Mapping[str, Sequence[str]]:
    """Return the lines about the fields of each structure, by its type."""
    data = pkgutil.get_data("celadon.kube", "data/template_structs.txt")
    assert data is not None, "template_structs.txt belongs to the package"
    structs: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in data.decode().splitlines():
        if line.startswith(" "):
            lines.append(line)
        elif not line.startswith("#"):
            lines = structs[f"v1.{line}"] = []
    return structs


def _fields(type_: str) -> Iterator[_Field]:
    """Yield the fields that a structure has in the current release."""
    release = parse_version(current_release())
    for line in _structs()[type_]:
        name, key, member_type, *releases = line.split()
        if not releases or _is_between(release, releases[0]):
            yield _Field(name, key, member_type)


def _is_between(release: tuple[int, int], releases: str) -> bool:
    """Return whether a release is among others. The last one that is described stands for all that
    come after it."""
    first, _, last = releases.partition("-")
    return parse_version(first) <= release and (release <= parse_version(last) or last == "1.36")


@per_release()
def _members(type_: str) -> Sequence[tuple[str, str, str, str]]:
    """Return for each field of a structure its name in JSON, its type, what stands before its
    value, and all that stands for it where there is none."""
    heads = ((field, f"{field.name}:({field.type})") for field in _fields(type_))
    return [(field.key, field.type, head, head + _absent(field.type)) for field, head in heads]


@per_release()
def _absent(type_: str) -> str:
    """Return what stands behind the type of a field that is not there."""
    parts: list[_Part] = []
    _writer(type_)(None, parts)
    return b"".join(part.text for part in parts).decode()


_Write = Callable[[Json, list[_Part]], None]
"""Adds the text of a value, as it stands behind its type."""


@per_release()
def _writer(type_: str) -> _Write:
    if type_.startswith("*"):
        pointed = _writer(type_[1:])
        return lambda value, parts: parts.append(_NIL) if value is None else pointed(value, parts)
    if type_.startswith("[]"):
        return functools.partial(_write_list, _writer(type_[2:]))
    if type_ == "v1.ResourceList":
        return functools.partial(_write_map, _writer("resource.Quantity"))
    if type_.startswith("map[string]"):
        return functools.partial(_write_map, _writer(type_.removeprefix("map[string]")))
    if type_ in _structs():
        return _struct_writer(type_)
    return functools.partial(_write_text, _SCALAR_TEXTS.get(type_, _text))


def _struct_writer(type_: str) -> _Write:
    @functools.lru_cache(maxsize=_FEW_SHAPES)
    def layout(present: tuple[str, ...]) -> tuple[Sequence[tuple[_Part, str, _Write]], _Part]:
        """Return the fields that are there, each with what stands before it; and the end."""
        fields: list[tuple[_Part, str, _Write]] = []
        before, space = "{", ""
        for key, member_type, head, absent in _members(type_):
            if key in present or key == _INLINE:
                fields.append((_Part(f"{before}{space}{head}".encode()), key, _writer(member_type)))
                before = ""
            else:
                before += space + absent
            space = " "
        return fields, _Part(f"{before}}}".encode())

    spelled_parts: dict[bytes, _Part] = {}

    def write(value: Json, parts: list[_Part]) -> None:
        members = value if isinstance(value, dict) else {}
        if type_ in _UNLIKE:
            spell(members, parts)
            return
        key = compact(members)
        part = spelled_parts.get(key)
        if part is None:
            spelled: list[_Part] = []
            spell(members, spelled)
            part = _Part(b"".join(part.text for part in spelled))
            if len(spelled_parts) >= _FEW_SHAPES:
                spelled_parts.clear()
            spelled_parts[key] = part
        parts.append(part)

    def spell(members: JsonObject, parts: list[_Part]) -> None:
        fields, end = layout(tuple([key for key in members if members[key] is not None]))
        for before, key, add in fields:
            parts.append(before)
            add(members if key == _INLINE else members[key], parts)
        parts.append(end)

    return write


def _write_text(printed: Callable[[Json], str], value: Json, parts: list[_Part]) -> None:
    text = printed(value).encode()
    parts.append(_Part(text) if len(text) > _LONG else _part(text))


def _write_list(write: _Write, value: Json, parts: list[_Part]) -> None:
    if not value or not isinstance(value, list):
        parts.append(_NIL)
        return
    before = _BEGIN_LIST
    for item in value:
        parts.append(before)
        write(item, parts)
        before = _SPACE
    parts.append(_END)


def _write_map(write: _Write, value: Json, parts: list[_Part]) -> None:
    if not value or not isinstance(value, dict):
        parts.append(_NIL)
        return
    before = "map["
    for key in sorted(value):
        parts.append(_part(f"{before}{key}:".encode()))
        write(value[key], parts)
        before = " "
    parts.append(_END)


_BEGIN: Final = _Part(f"({_ROOT})".encode())
_BEGIN_LIST: Final = _Part(b"[")
_SPACE: Final = _Part(b" ")
_END: Final = _Part(b"]")
_NIL: Final = _Part(_NOT_SET.encode())


# --- Scalars -----------------------------------------------------------------


def _text(value: Json) -> str:
    return str(value or "")


def _number(value: Json) -> str:
    return str(value or 0)


def _bool(value: Json) -> str:
    return "true" if value else "false"


def _int_or_string(value: Json) -> str:
    text, number = (value, 0) if isinstance(value, str) else ("", value or 0)
    kind = int(isinstance(value, str))
    return f"{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){text}}}"


def _time(_: Json) -> str:
    return "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"


def _quantity(value: Json) -> str:
    """Return a quantity as Go prints its fields; one that was never set has no format."""
    parsed = None if value is None else parse(str(value))
    quantity = parsed or Quantity(0)
    mantissa, scale, exact = quantity.mantissa, quantity.scale, _NOT_SET
    if quantity.exact is not None:
        mantissa = scale = 0
        written, _, power = f"{quantity.exact.copy_abs():e}".partition("e")
        whole, _, fraction = written.partition(".")
        unscaled, exponent = whole + fraction, int(power) - len(fraction)
        negative = "true" if quantity.exact.is_signed() else "false"
        exact = (
            f"{{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat)[{_words(unscaled)}]}} "
            f"scale:(inf.Scale){-exponent}}}"
        )
    form = "" if parsed is None else quantity.format.value
    return (
        f"{{i:(resource.int64Amount){{value:(int64){mantissa} scale:(resource.Scale){scale}}} "
        f"d:(resource.infDecAmount){{Dec:(*inf.Dec){exact}}} "
        f"s:(string){quantity.text} Format:(resource.Format){form}}}"
    )


_MOST_DIGITS: Final = 4_000
"""Python makes integers of few digits only, and takes time in proportion to the square. Amounts of
more digits, which nobody has, have a hash of their own."""


def _words(digits: str) -> str:
    def each(rest: int) -> Iterator[str]:
        while rest:
            yield str(rest % _WORD)
            rest //= _WORD

    return digits if len(digits) > _MOST_DIGITS else " ".join(each(int(digits)))


_SCALAR_TEXTS: Final[Mapping[str, Callable[[Json], str]]] = {
    "int32": _number,
    "int64": _number,
    "bool": _bool,
    "resource.Quantity": _quantity,
    "intstr.IntOrString": _int_or_string,
    "v1.Time": _time,
}
"""How values of a type are printed; of all others, which are texts: `_text`."""
