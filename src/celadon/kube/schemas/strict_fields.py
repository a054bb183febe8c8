"""Strict decoding: the fields of a document that its kind does not have, or that come twice.

In the order in which a reader meets them, each text once, no more than `MOST`. As sigs.k8s.io/json
`UnmarshalStrict`: what stands inside an unknown field is not looked at, nor is its repetition
another complaint.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple, TypeAlias

from celadon.kube.go.go_json import Document
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.typed_objects import SPECIAL, codec_for, struct_codec

MOST: Final = 100
"""Complaints that a decoder collects."""


LIKENESS: Final = 0.8
"""How much alike, from 0 to 1, a misspelt name is to the right one: one letter in five is wrong."""

Steps = tuple[str | int, ...]
"""The way to a value: keys of maps, indices of lists."""

_Place: TypeAlias = "tuple[_Place, str | int] | None"
"""The same while walking, from its end: one step costs the same at any depth."""
_ROOT: Final[_Place] = None


class StrayField(NamedTuple):
    """A field that its kind does not have or, if it `is_repeated`, that a document has twice.
    `known` are the fields that there are in its place."""

    steps: Steps
    is_repeated: bool = False
    known: Collection[str] = ()

    @property
    def path(self) -> str:
        """`spec.containers[0].imge`."""
        steps = (f"[{one}]" if isinstance(one, int) else f".{one}" for one in self.steps)
        return "".join(steps).removeprefix(".")

    @property
    def likely(self) -> str:
        """The field that was probably meant; empty if none is much like it."""
        import difflib  # late: few documents have such fields

        names = {name.lower(): name for name in self.known}
        word = str(self.steps[-1]).lower()
        found = difflib.get_close_matches(word, names, n=1, cutoff=LIKENESS)
        return names[found[0]] if found else ""

    @property
    def text(self) -> str:
        """Return what a decoder says of it."""
        return f"{'duplicate' if self.is_repeated else 'unknown'} field {quote(self.path)}"


_Found = dict[str, StrayField]
"""By their texts: of two fields whose paths read alike the first one counts."""


def strict_field_errors(document: Document, gvk: GroupVersionKind) -> list[StrayField]:
    """Return the stray fields of documents whose values have the types of the kind; none for kinds
    not built in."""
    codec = codec_for(gvk)
    if codec is None:
        return []
    found: _Found = {}
    _walk(document, document.value, {"ref": codec.name}, _ROOT, found)
    return _most(found)


def _most(found: _Found) -> list[StrayField]:
    return list(found.values())[:MOST]


def struct_field_errors(
    document: Document, at: tuple[str, ...], component: str
) -> list[StrayField]:
    """Return the stray fields of one member alone, whose type is a component: for objects that have
    no other types. Repeated fields are not complained about."""
    found: _Found = {}
    value, place = document.value, _ROOT
    for name in at:
        value = value.get(name) if isinstance(value, dict) else None
        place = (place, name)
    _walk(Document(value), value, {"ref": component}, place, found)
    return _most(found)


def repeated_fields(document: Document) -> list[StrayField]:
    """The members that occur more than once, whatever they are, in the order of the document."""
    found: _Found = {}
    if document.repeated:
        _find_repeated(document, document.value, _ROOT, found)
    return _most(found)


def _find_repeated(document: Document, value: object, at: _Place, found: _Found) -> None:
    if isinstance(value, dict):
        seen: set[str] = set()
        for key, item in document.members(value):
            where = (at, key)
            if key in seen:
                _note(where, found)
            seen.add(key)
            _find_repeated(document, item, where, found)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _find_repeated(document, item, (at, i), found)


def _note(at: _Place, found: _Found, known: JsonObject | None = None) -> None:
    """A field that is not `known`, or else is repeated. Only the first ones are shown."""
    if len(found) == MOST:
        return
    steps: list[str | int] = []
    while at is not None:
        at, step = at
        steps.append(step)
    where = tuple(reversed(steps))
    stray = StrayField(where, is_repeated=True) if known is None else StrayField(where, known=known)
    found.setdefault(stray.text, stray)


def _walk(document: Document, value: object, node: object, at: _Place, found: _Found) -> None:
    if not isinstance(node, dict):
        return
    if isinstance(value, list) and "items" in node:
        for i, item in enumerate(value):
            _walk(document, item, node["items"], (at, i), found)
    elif isinstance(value, dict) and "values" in node:
        _members(document, value, None, node["values"], at, found)
    elif isinstance(value, dict) and "ref" in node and node["ref"] not in SPECIAL:
        _members(document, value, struct_codec(node["ref"]).field_nodes, None, at, found)


def _members(
    document: Document,
    obj: JsonObject,
    fields: JsonObject | None,
    values: object,
    at: _Place,
    found: _Found,
) -> None:
    """`fields` of a struct, or None for a map whose values are all of the node `values`."""
    seen: set[str] = set()
    for key, item in document.members(obj):
        where = (at, key)
        if fields is not None and key not in fields:
            _note(where, found, fields)
            continue
        if key in seen:
            _note(where, found)
        seen.add(key)
        _walk(document, item, values if fields is None else fields[key], where, found)
