"""The JSON of objects in the store, written once for all who read it.

A get, a list and every watcher of an event show the same object; what they send is the same bytes.
They are kept by the identity of the object, which is shared (INVARIANT (shared objects)), as long
as there is room: a list of 10,000 objects is joined from them in a tenth of the time it takes to
write it anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from celadon.kube import JsonObject
from celadon.kube.catalogue import Resource
from celadon.serve.json_bytes import json_bytes, sorted_json_bytes
from celadon.serve.objects.object_memory import ObjectMemory, weight

_MOST: Final = 64 << 20
"""What the texts that are kept may weigh, with their objects."""


class ObjectTexts:
    """Only for objects that came from the store and are as they are stored."""

    def __init__(self, most: int = _MOST) -> None:
        self._texts = ObjectMemory[int, tuple[JsonObject, bytes]](most)
        """By identity, which the object that is kept beside the text keeps its own."""
        self._line: tuple[str, JsonObject, bytes] = ("", {}, b"")

    def whole(self, obj: JsonObject, resource: Resource) -> bytes:
        """As a get shows it, without a line feed."""
        found = self._texts.get(id(obj))
        if found is not None:
            return found[1]
        text = sorted_json_bytes(obj) if resource.custom else json_bytes(obj)
        self._texts.keep(id(obj), (obj, text), weight(text))
        return text

    def event(self, kind: str, obj: JsonObject, resource: Resource) -> bytes:
        """A line of a watch. The last one is kept: watchers come one after the other."""
        kind_kept, obj_kept, line = self._line
        if obj is not obj_kept or kind != kind_kept:
            text = self.whole(obj, resource)
            line = b'{"type":"%b","object":%b}\n' % (kind.encode(), text)
            self._line = kind, obj, line
        return line

    def items(self, objects: Iterable[JsonObject], resource: Resource) -> bytes:
        """As a list shows them, with commas between: items of built-in kinds do not say what they
        are."""
        if resource.custom:
            return b",".join([self.whole(obj, resource) for obj in objects])
        gvk = resource.gvk
        head = json_bytes({"kind": gvk.kind, "apiVersion": gvk.api_version})[:-1] + b","
        return b",".join([self._item(obj, resource, head) for obj in objects])

    def _item(self, obj: JsonObject, resource: Resource, head: bytes) -> bytes:
        text = self.whole(obj, resource)
        if text.startswith(head):
            return b"{" + text[len(head) :]
        return json_bytes({key: obj[key] for key in obj if key not in ("apiVersion", "kind")})
