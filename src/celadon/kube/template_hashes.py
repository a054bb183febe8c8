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
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from celadon.kube.json_types import Json, JsonObject
from celadon.kube.quantity import Quantity, parse
from celadon.kube.releases import current_release, parse_version, per_release
from celadon.kube.well_known_values import SUFFIX_LETTERS
from celadon.records import dataclass

_ROOT: Final = "v1.PodTemplateSpec"
_FNV_PRIME: Final = 0x01000193
_FNV_START: Final = 0x811C9DC5
_FNV_BITS: Final = 0xFFFFFFFF
_LONG_WORD: Final = 64
"""Longer ones are texts of one template, and are not kept."""
_FEW_LOWS: Final = 16
"""To work out all low bytes of a word together takes as long as so many one by one."""
_LOWS: Final = 256
_IN_EACH: Final = sum(1 << 64 * low for low in range(_LOWS))
"""A number that has 1 in each of as many parts of 64 bits; times a byte, it has that in each."""
_ALL_LOWS: Final = sum(low << 64 * low for low in range(_LOWS))
_NUMBERS: Final = frozenset({"int32", "int64"})
_NOT_SET: Final = "<nil>"
_INLINE: Final = "+"
"""For a name in JSON: the members of the field stand beside those of the others."""
_ZERO_TIME: Final = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_WORD: Final = 1 << 64
"""Big numbers are printed in words of 64 bits, the lowest first."""


def template_hash(template: JsonObject, collisions: int | None = None) -> str:
    """Such as `6b474476c4`: the digits of a checksum in safe characters. `collisions` counts how
    often it was somebody else's already."""
    text = printed(template).encode()
    if collisions is not None:
        text += (collisions % (1 << 32)).to_bytes(8, "little")
    return safe_digits(checksum(text))


def checksum(text: bytes) -> int:
    """FNV-1a of 32 bits, in a part of the time that it takes byte by byte: templates have most
    words in common, and what is above the low byte is only multiplied by them."""
    first, *words = text.split(b" ")
    digest = _continued(first, _FNV_START)
    for word in words:
        if len(word) > _LONG_WORD:
            digest = _continued(b" " + word, digest)
        else:
            known, low = _word(word), digest & 0xFF
            own = known.made.get(low)
            if own is None:
                own = known.own(low)
            digest = own + (digest - low) * known.factor & _FNV_BITS
    return digest


def _continued(text: bytes, digest: int) -> int:
    for byte in text:
        digest = (digest ^ byte) * _FNV_PRIME & _FNV_BITS
    return digest


class _Word:
    """Holds what a word, with the space before it, makes of low bytes (`made`), and by what it
    multiplies all that is above them (`factor`)."""

    __slots__ = ("_text", "factor", "made")

    def __init__(self, word: bytes) -> None:
        self._text = b" " + word
        self.factor = pow(_FNV_PRIME, len(self._text), _FNV_BITS + 1)
        self.made: dict[int, int] = {}

    def own(self, low: int) -> int:
        """Work out one low byte, or all of them: a stream of manifests asks for all."""
        if len(self.made) == _FEW_LOWS:
            self.made = dict(enumerate(_of_all_lows(self._text)))
        own = self.made[low] = _continued(self._text, low)
        return own


_word: Final = functools.lru_cache(maxsize=512)(_Word)
"""A word of which all is known takes 17 KB."""


def _of_all_lows(text: bytes) -> array[int]:
    """Work as `_continued`, of each low byte: all in one number, whose parts do not touch each
    other, since 32 bits times the prime are fewer than 64."""
    digests, bits = _ALL_LOWS, _FNV_BITS * _IN_EACH
    for byte in text:
        digests = (digests ^ byte * _IN_EACH) * _FNV_PRIME & bits
    return array("Q", digests.to_bytes(8 * _LOWS, sys.byteorder))


def safe_digits(number: int) -> str:
    """The digits of a number as letters and digits that make no words."""
    return "".join(SUFFIX_LETTERS[ord(one) % len(SUFFIX_LETTERS)] for one in str(number))


def printed(template: JsonObject) -> str:
    """The text of which the hash is made."""
    return f"({_ROOT}){_struct(_ROOT, template)}"


# --- Structures --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Field:
    """Its name in Go, that in JSON, and its type."""

    name: str
    key: str
    type: str


@per_release()
def _structs() -> Mapping[str, tuple[_Field, ...]]:
    """The fields of each structure, by its type."""
    data = pkgutil.get_data("celadon.kube", "data/template_structs.txt")
    assert data is not None, "template_structs.txt belongs to the package"
    here = parse_version(current_release())
    structs: dict[str, list[_Field]] = {}
    fields: list[_Field] = []
    for line in data.decode().splitlines():
        if not line.startswith((" ", "#")):
            fields = structs[f"v1.{line}"] = []
        elif line.startswith(" "):
            name, key, type_, *releases = line.split()
            if not releases or _is_between(here, releases[0]):
                fields.append(_Field(name, key, type_))
    return {name: tuple(fields) for name, fields in structs.items()}


def _is_between(here: tuple[int, int], releases: str) -> bool:
    """The last release that is described stands for all that come after it."""
    first, _, last = releases.partition("-")
    return parse_version(first) <= here and (here <= parse_version(last) or last == "1.36")


@per_release()
def _members(type_: str) -> Sequence[tuple[str, str, str, str]]:
    """Return for each field of a structure its name in JSON, its type, what stands before its
    value, and all that stands for it where there is none."""
    heads = ((one, f"{one.name}:({one.type})") for one in _structs()[type_])
    return [(one.key, one.type, head, head + _value(one.type, None)) for one, head in heads]


@per_release()
def _empty_struct(type_: str) -> str:
    return f"{{{' '.join(absent for *_, absent in _members(type_))}}}"


def _struct(type_: str, value: JsonObject) -> str:
    members = []
    for key, member_type, head, absent in _members(type_):
        member = dict(value) if key == _INLINE else value.get(key)
        members.append(absent if member is None else head + _value(member_type, member))
    return f"{{{' '.join(members)}}}"


def _value(type_: str, value: Json) -> str:
    """Return what stands behind the type."""
    if type_.startswith("*"):
        return _NOT_SET if value is None else _value(type_[1:], value)
    if type_.startswith("[]"):
        items = value if isinstance(value, list) else ()
        return f"[{' '.join(_value(type_[2:], one) for one in items)}]" if items else _NOT_SET
    if type_ == "v1.ResourceList":
        return _map("resource.Quantity", value)
    if type_.startswith("map[string]"):
        return _map(type_.removeprefix("map[string]"), value)
    if type_ in _structs():
        return _struct(type_, value) if value and isinstance(value, dict) else _empty_struct(type_)
    if type_ == "resource.Quantity":
        return _quantity(None if value is None else parse(str(value)))
    if type_ == "intstr.IntOrString":
        text, number = (value, 0) if isinstance(value, str) else ("", value or 0)
        kind = int(isinstance(value, str))
        return f"{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){text}}}"
    if type_ == "v1.Time":
        return _ZERO_TIME
    if type_ == "bool":
        return "true" if value else "false"
    return str(value or 0) if type_ in _NUMBERS else str(value or "")


def _map(type_: str, value: Json) -> str:
    if not value or not isinstance(value, dict):
        return _NOT_SET
    return f"map[{' '.join(f'{key}:{_value(type_, value[key])}' for key in sorted(value))}]"


# --- Quantities --------------------------------------------------------------


def _quantity(given: Quantity | None) -> str:
    """One that was never set has no format."""
    quantity = given or Quantity(0)
    mantissa, scale, exact = quantity.mantissa, quantity.scale, _NOT_SET
    if quantity.exact is not None:
        mantissa = scale = 0
        sign, digits, exponent = quantity.exact.as_tuple()
        unscaled = int("".join(map(str, digits)))
        negative = "true" if sign else "false"
        exact = (
            f"{{unscaled:(big.Int){{neg:(bool){negative} abs:(big.nat)[{_words(unscaled)}]}} "
            f"scale:(inf.Scale){-int(exponent)}}}"
        )
    form = "" if given is None else quantity.format.value
    return (
        f"{{i:(resource.int64Amount){{value:(int64){mantissa} scale:(resource.Scale){scale}}} "
        f"d:(resource.infDecAmount){{Dec:(*inf.Dec){exact}}} "
        f"s:(string){quantity.text} Format:(resource.Format){form}}}"
    )


def _words(number: int) -> str:
    def each(rest: int) -> Iterator[str]:
        while rest:
            yield str(rest % _WORD)
            rest //= _WORD

    return " ".join(each(number))
