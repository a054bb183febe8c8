"""JSON patch and JSON merge patch, in the dialect that API servers speak; and the JSON patch
between two objects.

That of gopkg.in/evanphx/json-patch.v4, which is more lenient than RFC 6902: `replace` of a missing
member of an object adds it, `test` of a missing member against null holds, negative indices count
from the end, and what stands before the first slash of a path is ignored. Error texts are those of
the library.

Documents and patches are JSON values; neither is changed. Members of the result keep their places,
unless they are asked for as the library writes them: sorted in each object that it has looked into,
as they came in all others.
"""

from __future__ import annotations

import json
import json.scanner
from collections.abc import Callable, Iterable, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed lacks it
from typing import Any, Final, TypeAlias

from celadon.kube.errors import KubeError
from celadon.kube.go.go_json import TOO_DEEP, Document, RawJson, read_json
from celadon.kube.go.go_text import escaped_html, json_text, quote
from celadon.kube.json_types import Json, JsonDict, JsonObject, fresh
from celadon.kube.releases import is_since
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

COPY_LIMIT: Final = 3 * 1024 * 1024
"""Bytes of JSON that all `copy` operations of a patch may add."""

_INTEGER: Final = late_pattern("[+-]?[0-9]+")
_MISSING: Final = "missing value"


class JsonPatchError(KubeError, ValueError):
    """Says that a patch does not apply; the message is the library's. `is_test`: what did not hold
    was a `test` operation."""

    is_test = False


class JsonPatchTestFailed(JsonPatchError):
    """A `test` operation did not hold."""

    is_test = True

    def __init__(self, path: str) -> None:
        super().__init__(f"testing value {path} failed: test failed")


def _index(key: str) -> int:
    """Work as Go's `strconv.Atoi`."""
    if _INTEGER.fullmatch(key) is None:
        raise JsonPatchError(f"strconv.Atoi: parsing {quote(key)}: invalid syntax")
    # Twenty digits are out of range already, and Python converts no text of any length.
    digits = key.lstrip("+-0")[:20] or "0"
    number = -int(digits) if key.startswith("-") else int(digits)
    if not -(2**63) <= number < 2**63:
        raise JsonPatchError(f"strconv.Atoi: parsing {quote(key)}: value out of range")
    return number


def _position(key: str, length: int) -> int:
    """Return the index of one of `length` items; negative ones count from the end."""
    index = _index(key)
    if not -length <= index < length:
        raise JsonPatchError(f"Unable to access invalid index: {index}: invalid index referenced")
    return index + length if index < 0 else index


def _get(container: Any, key: str) -> Any:
    """Return a member; a missing one of an object reads as null."""
    if isinstance(container, dict):
        return container.get(key)
    return container[_position(key, len(container))]


def _add(container: Any, key: str, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
    elif key == "-":
        container.append(value)
    else:
        try:
            _index(key)
        except JsonPatchError as error:
            raise JsonPatchError(f"value was not a proper array index: '{key}': {error}") from None
        container.insert(_position(key, len(container) + 1), value)


def _remove(container: Any, key: str) -> None:
    if isinstance(container, list):
        del container[_position(key, len(container))]
    elif key in container:
        del container[key]
    else:
        raise JsonPatchError(f"Unable to remove nonexistent key: {key}: {_MISSING}")


def _unescape(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def same_json(a: object, b: object) -> bool:
    """Equality of JSON, scalars by their text: neither are 1 and true the same, nor 1 and 1.0."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_json(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    return a.__class__ is b.__class__ and bool(a == b)


def _copy(value: object) -> object:
    """Return a container anew, with the same in it."""
    if isinstance(value, dict):
        return dict(value)
    return list(value) if isinstance(value, list) else value


class _Application:
    """A patch being applied to a document, of which the containers on the way to what changes are
    copied: to copy all of it takes a twentieth of a patch of a Deployment."""

    def __init__(
        self, document: object, copy_limit: int, *, raw_nulls: bool, is_tested: bool
    ) -> None:
        self.document = _copy(document)
        self.copy_limit = copy_limit
        self.raw_nulls = raw_nulls
        self.is_tested = is_tested
        self.copied = 0
        self.own = {id(self.document): self.document}
        self.opened = dict(self.own)

    def _find(self, path: str) -> tuple[object, str] | None:
        """Return the container that a path's last part is a key of; None when there is none."""
        parts = path.split("/")[1:]
        if not parts:
            return None
        *way, key = map(_unescape, parts)
        document: Any = self.document
        for part in way:
            try:
                below = _get(document, part)
            except JsonPatchError:
                return None
            if not isinstance(below, (dict, list)):
                return None
            if id(below) not in self.own:
                below = _copy(below)
                document[part if isinstance(document, dict) else _position(part, len(document))] = (
                    below
                )
                self.own[id(below)] = below
            document = self.opened[id(below)] = below
        return document, key

    def _open_all(self, value: object) -> None:
        """Note that the library has decoded a value and everything in it."""
        if isinstance(value, dict | list):
            self.opened[id(value)] = value
            for item in value.values() if isinstance(value, dict) else value:
                self._open_all(item)

    def written(self, value: object) -> Any:
        """Return a value as the library writes it."""
        opened = self.opened
        if id(value) not in opened:
            return value
        if isinstance(value, dict):
            return {
                key: self.written(member) if id(member) in opened else member
                for key, member in sorted(value.items())
            }
        return list(map(self.written, value)) if isinstance(value, list) else value

    def _path(self, operation: JsonObject, kind: str) -> str:
        path = operation.get("path")
        if not isinstance(path, str):
            raise JsonPatchError(f"{kind} operation failed to decode path: {_MISSING}")
        return path

    def _from(self, operation: JsonObject, kind: str) -> str:
        path = operation.get("from")
        if not isinstance(path, str):
            raise JsonPatchError(
                f"{kind} operation failed to decode from: operation, missing from field: {_MISSING}"
            )
        return path

    def _place(self, path: str, refusal: str) -> tuple[Any, str]:
        place = self._find(path)
        if place is None:
            raise JsonPatchError(f"{refusal}: {_MISSING}")
        return place

    def add(self, operation: JsonObject) -> None:
        path = self._path(operation, "add")
        refusal = f'add operation does not apply: doc is missing path: "{path}"'
        container, key = self._place(path, refusal)
        with _Prefix(f"error in add for path: '{path}'"):
            _add(container, key, fresh(operation.get("value")))

    def remove(self, operation: JsonObject) -> None:
        path = self._path(operation, "remove")
        refusal = f'remove operation does not apply: doc is missing path: "{path}"'
        container, key = self._place(path, refusal)
        with _Prefix(f"error in remove for path: '{path}'"):
            _remove(container, key)

    def replace(self, operation: JsonObject) -> None:
        path = self._path(operation, "replace")
        value = fresh(operation.get("value"))
        if path == "":
            if not isinstance(value, (dict, list)):
                if is_since("1.35"):
                    reason = "replace operation value must be object or array: %!w(<nil>)"
                    raise JsonPatchError(reason)
                return  # The library before v4.13 wrapped an error that was none.
            self.document = value
            self.opened[id(value)] = value
            return
        refusal = f"replace operation does not apply: doc is missing path: {path}"
        container, key = self._place(path, refusal)
        try:
            _get(container, key)
        except JsonPatchError:
            raise JsonPatchError(
                f"replace operation does not apply: doc is missing key: {path}: {_MISSING}"
            ) from None
        if isinstance(container, list):
            container[_position(key, len(container))] = value
        else:
            container[key] = value

    def move(self, operation: JsonObject) -> None:
        source = self._from(operation, "move")
        refusal = f"move operation does not apply: doc is missing from path: {source}"
        container, key = self._place(source, refusal)
        with _Prefix(f"error in move for path: '{key}'"):
            value = _get(container, key)
            _remove(container, key)
        path = self._path(operation, "move")
        refusal = f"move operation does not apply: doc is missing destination path: {path}"
        container, key = self._place(path, refusal)
        with _Prefix(f"error in move for path: '{path}'"):
            _add(container, key, value)

    def test(self, operation: JsonObject) -> None:
        path = self._path(operation, "test")
        if path == "":
            if not (self.is_tested or same_json(self.document, operation.get("value"))):
                raise JsonPatchTestFailed(path)
            self._open_all(self.document)
            return
        refusal = f"test operation does not apply: is missing path: {path}"
        container, key = self._place(path, refusal)
        with _Prefix(f"error in test for path: '{path}'"):
            value = _get(container, key)
        expected = operation.get("value")
        is_raw_null = self.raw_nulls and expected is None and "value" in operation
        if not self.is_tested and (is_raw_null or not same_json(value, expected)):
            raise JsonPatchTestFailed(path)
        self._open_all(value)

    def copy(self, operation: JsonObject) -> None:
        source = self._from(operation, "copy")
        refusal = f"copy operation does not apply: doc is missing from path: {source}"
        container, key = self._place(source, refusal)
        with _Prefix(f"error in copy for from: '{source}'"):
            _get(container, key)
        path = self._path(operation, "copy")
        refusal = f"copy operation does not apply: doc is missing destination path: {path}"
        holder, holder_key = container, key
        container, key = self._place(path, refusal)
        value = _get(holder, holder_key)  # only now: the way to the destination may lead through it
        self.copied += len(json_text(value).encode("utf-8", "surrogatepass"))
        if self.copied > self.copy_limit:
            raise JsonPatchError(
                "Unable to complete the copy, the accumulated size increase of copy is "
                f"{self.copied}, exceeding the limit {self.copy_limit}"
            )
        with _Prefix("error while adding value during copy"):
            _add(container, key, fresh(self.written(value)))


class _Prefix:
    """Puts words before the message of a JsonPatchError that leaves the block."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, JsonPatchError):
            raise JsonPatchError(f"{self.words}: {error}") from None


def apply_json_patch(
    document: object,
    operations: Sequence[JsonObject],
    *,
    copy_limit: int = COPY_LIMIT,
    raw_nulls: bool = False,
    as_written: bool = False,
    is_tested: bool = False,
) -> Any:
    """Return the patched document. JsonPatchError when an operation does not apply. `raw_nulls`:
    the operations were not read from JSON but made, which the library handles in another way: no
    `test` for a null holds. `as_written`: with the members in the order in which the library writes
    them. `is_tested`: it is known that what the patch tests holds."""
    try:
        application = _Application(document, copy_limit, raw_nulls=raw_nulls, is_tested=is_tested)
        _apply_all(application, operations)
        result = application.document
        return application.written(result) if as_written else result
    except RecursionError:
        raise JsonPatchError(TOO_DEEP) from None


def _apply_all(application: _Application, operations: Sequence[JsonObject]) -> None:
    apply = {
        "add": application.add,
        "remove": application.remove,
        "replace": application.replace,
        "move": application.move,
        "test": application.test,
        "copy": application.copy,
    }
    for operation in operations:
        kind = operation.get("op")
        if not isinstance(kind, str):
            kind = "unknown"
        if kind not in apply:
            raise JsonPatchError(f"Unexpected kind: {kind}")
        apply[kind](operation)


_Order = Callable[[JsonDict], Iterable[str]]
"""The names of an object's members, in the order that its copy has."""


def _without_nulls(value: object, order: _Order) -> object:
    """Return the value without the null members of objects, at any depth; null items of lists
    stay."""
    if isinstance(value, dict):
        keys = (key for key in order(value) if value[key] is not None)
        return {key: _without_nulls(value[key], order) for key in keys}
    if isinstance(value, list):
        return [_without_nulls(item, order) for item in value]
    return value


def apply_merge_patch(document: object, patch: object, *, as_written: bool = False) -> Any:
    """Return the document with the patch merged into it; null removes a member. `as_written` as
    above."""
    order: _Order = sorted if as_written else list
    try:
        if isinstance(patch, dict):
            return _merged(document, patch, order)
        return _without_nulls(patch, order)
    except RecursionError:
        raise JsonPatchError(TOO_DEEP) from None


def _merged(document: object, patch: object, order: _Order) -> Any:
    if not isinstance(document, dict):
        return _without_nulls(patch, order)
    if not isinstance(patch, dict):
        return fresh(patch)
    merged = dict(document)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif merged.get(key) is None:
            merged[key] = _without_nulls(value, order)
        else:
            merged[key] = _merged(merged[key], value, order)
    return {key: merged[key] for key in order(merged)}


# --- reading ---


class WrittenText(str):
    """A string that a server would write in another way. Its class tells it from all others.

    A `test` operation compares the texts of scalars: `1` is not `1.0`, and a string that is written
    otherwise than a server writes it (`"\\u0061"`, or `"<"`, which a server escapes) is equal to
    none. Numbers tell how they are written anyway; strings do so in `test` operations only."""

    __slots__ = ()


def read_patch(text: str) -> Document:
    """Return the operations of a JSON patch, with what matters of how they are written, or whatever
    the text is. Raises JsonSyntaxError."""
    document = read_json(text)
    if isinstance(document.value, list) and any(map(_is_test, document.value)):
        written = _Decoder(_scanned).decode(text)
        for operation, as_written in zip(document.value, written, strict=True):
            if _is_test(operation) and _has_text(as_written.get("value")):
                operation["value"] = as_written["value"]
    return document


def _is_test(operation: Json) -> bool:
    return isinstance(operation, dict) and operation.get("op") == "test"


def _has_text(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_text, value.values()))
    if isinstance(value, list):
        return any(map(_has_text, value))
    return value.__class__ is WrittenText


class _Source(str):
    """The text of a scalar, as it stands in a patch: Go's library copies it."""

    __slots__ = ()


def with_sources(text: str) -> Any:
    """Return a patch that can be read, with the texts of its scalars in place of what they mean. It
    can be applied again for `source_text` to show what came of it."""
    return _Decoder(_source, _Source).decode(text)


def source_text(value: object) -> str:
    """JSON as Go's library writes what patches `with_sources` were applied to."""
    if isinstance(value, RawJson):
        return value.text
    if isinstance(value, dict):
        members = (f"{json_text(key)}:{source_text(member)}" for key, member in value.items())
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(source_text, value))}]"
    return escaped_html(value) if value.__class__ is _Source else json_text(value)


_ParseString: TypeAlias = Callable[[str, int, bool], tuple[str, int]]


class _Decoder(json.JSONDecoder):
    """Python's decoder, asked for the text of each string, and perhaps of each number."""

    def __init__(
        self, parse_string: _ParseString, parse_number: Callable[[str], Any] | None = None
    ) -> None:
        super().__init__(parse_float=parse_number, parse_int=parse_number)
        self.parse_string = parse_string
        self.scan_once = json.scanner.py_make_scanner(self)  # type: ignore[attr-defined]  # as above


def _source(text: str, start: int, strict: bool = True) -> tuple[str, int]:  # noqa: FBT001, FBT002 - called by json
    _, end = scanstring(text, start, strict)
    return _Source(text[start - 1 : end]), end


def _scanned(text: str, start: int, strict: bool = True) -> tuple[str, int]:  # noqa: FBT001, FBT002 - called by json
    value, end = scanstring(text, start, strict)
    return (value if text[start - 1 : end] == json_text(value) else WrittenText(value)), end


# --- Patches made ------------------------------------------------------------
#
# From an object and what somebody made of it to the JSON Patch (RFC 6902) between them.
#
# Only `add`, `remove` and `replace` are written. Of several ways that is taken which has the
# least to write of values, in as few operations as may be: items of lists are aligned, so that
# one more at the front is one `add`, and a part that has nothing in common with the other is
# replaced as a whole. Operations on a list go from its end to its beginning, so that no index
# depends on those before it.

Operation = JsonDict
"""One of a patch: `op`, `path` and mostly `value`."""

MOST_PAIRS: Final = 2500
"""Of two lists with more pairs of items, items at the same index are compared."""


def patch_between(before: object, after: object) -> list[Operation]:
    """Return the operations that make the one JSON value of the other; none if they are the
    same."""
    return list(_changed(before, after, "").operations)


OPERATION_COST: Final = 4
"""So many characters of values an operation is worth."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A part of a patch; `size` is the length of its values, and something for each operation."""

    operations: tuple[Operation, ...] = ()
    size: int = 0

    def __add__(self, other: _Change) -> _Change:
        return _Change(self.operations + other.operations, self.size + other.size)


_NOTHING: Final = _Change()


def _operation(op: str, path: str, *value: object) -> _Change:
    result: Operation = {"op": op, "path": path}
    if not value:
        return _Change((result,), OPERATION_COST)
    result["value"] = value[0]
    return _Change((result,), OPERATION_COST + len(json.dumps(value[0])))


def _changed(before: Any, after: object, path: str) -> _Change:
    if same_json(before, after):
        return _NOTHING
    whole = _operation("replace", path, after)
    if isinstance(before, dict) and isinstance(after, dict):
        parts = _object(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        parts = _list(before, after, path)
    else:
        return whole
    return parts if not path or parts.size <= whole.size else whole


def _object(before: JsonObject, after: JsonObject, path: str) -> _Change:
    change = _NOTHING
    for key, old in before.items():
        below = f"{path}/{_escaped(key)}"
        if key in after:
            change += _changed(old, after[key], below)
        else:
            change += _operation("remove", below)
    for key, new in after.items():
        if key not in before:
            change += _operation("add", f"{path}/{_escaped(key)}", new)
    return change


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _list(before: Sequence[Json], after: Sequence[Json], path: str) -> _Change:
    start = 0
    while start < min(len(before), len(after)) and same_json(before[start], after[start]):
        start += 1
    end = 0
    most = min(len(before), len(after)) - start
    while end < most and same_json(before[-1 - end], after[-1 - end]):
        end += 1
    old = before[start : len(before) - end]
    new = after[start : len(after) - end]
    if len(old) * len(new) > MOST_PAIRS:
        return _side_by_side(old, new, start, path)
    return _aligned(old, new, start, path)


def _side_by_side(old: Sequence[Json], new: Sequence[Json], start: int, path: str) -> _Change:
    """Items at the same index are the same item; the rest comes or goes at the end."""
    both = min(len(old), len(new))
    change = _NOTHING
    for i in range(len(old) - 1, both - 1, -1):
        change += _operation("remove", f"{path}/{start + i}")
    for i in range(both - 1, -1, -1):
        change += _changed(old[i], new[i], f"{path}/{start + i}")
    for i in range(both, len(new)):
        change += _operation("add", f"{path}/{start + i}", new[i])
    return change


def _aligned(old: Sequence[Json], new: Sequence[Json], start: int, path: str) -> _Change:
    """Find the shortest way over all alignments of the items, as for the distance between two
    words. `best[j]` leads from what is left of `old` to `new[j:]`."""
    removals = [_operation("remove", f"{path}/{start + i}") for i in range(len(old))]
    last = len(new)
    best = [_NOTHING] * (last + 1)
    for j in range(last - 1, -1, -1):
        # Each goes in at the same index, so the last one goes first.
        best[j] = best[j + 1] + _operation("add", f"{path}/{start + len(old)}", new[j])
    for i in range(len(old) - 1, -1, -1):
        above, best = best, [_NOTHING] * (last + 1)
        best[last] = above[last] + removals[i]
        for j in range(last - 1, -1, -1):
            item_path = f"{path}/{start + i}"
            ways = [
                above[j + 1] + _changed(old[i], new[j], item_path),
                above[j] + removals[i],
                best[j + 1] + _operation("add", item_path, new[j]),
            ]
            best[j] = min(ways, key=lambda way: way.size)
    return best[0]
