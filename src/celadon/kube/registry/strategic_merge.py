"""Strategic merge patches: merge patches that know which lists are merged, and by what.

A list whose field has the strategy `merge` is merged, by its merge key or, of scalars, as a set;
any other list is replaced. Directives inside the patch change that: `$patch` (`replace`, `delete`),
`$retainKeys`, `$setElementOrder/FIELD` and `$deleteFromPrimitiveList/FIELD`. As k8s.io/apimachinery
`pkg/util/strategicpatch`, with the options of a server: nulls for what is not there are ignored,
lists of patch and order are parallel.

Directives count only where something is merged. In what is taken as a whole, such as a new item of
a list, they stay, and are fields that the kind does not have.

Documents and patches are JSON values. A document is not changed; of a patch is left what
refusals print.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from celadon.kube.errors import KubeError
from celadon.kube.go.go_json import TOO_DEEP
from celadon.kube.go.go_text import plain_text, quote, type_text
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.schemas.schema_packs import Schema, resolved

# --- Strategies of fields ----------------------------------------------------
#
# What the schema of a kind says about merging its fields: which lists are merged, and by what.
#
# The `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key` of OpenAPI, and how items
# of such lists are told from one another.

DIRECTIVE: Final = "$patch"
RETAIN_KEYS: Final = "$retainKeys"
ELEMENT_ORDER: Final = "$setElementOrder/"
DELETE_FROM_LIST: Final = "$deleteFromPrimitiveList/"

_RETAINING: Final = "retainKeys"


class MergeError(KubeError, ValueError):
    """The patch cannot be applied, or not be made; the text is upstream's. A server answers with
    `code`."""

    def __init__(self, text: str, *, code: int = 500) -> None:
        super().__init__(text)
        self.code = code


def member_of(schema: Schema | None, key: str) -> Schema | None:
    """Return what is said of a member of an object: its strategy, and where its shape stands."""
    if schema is None:
        return None
    member = schema.properties.get(key)
    return schema.additional_properties if member is None else member


def field_of(schema: Schema | None, key: str) -> Schema | None:
    """Return the schema of a field as a server finds it: only structs have fields. MergeError for
    what is a map in Go, and for an unknown field; None without a schema."""
    if schema is None:
        return None
    if schema.additional_properties is not None:
        raise MergeError("merging an object in json but data type is not struct, instead is: map")
    member = schema.properties.get(key)
    if member is None:
        folded = key.casefold()
        alike = (field for name, field in schema.properties.items() if name.casefold() == folded)
        member = next(alike, None)
    if member is None:
        struct = schema.name.rpartition(".")[2]
        text = f"unable to find api field in struct {struct} for the json field {quote(key)}"
        raise MergeError(text)
    return member


def list_field_of(schema: Schema | None, key: str) -> Schema | None:
    """Return the schema of a field that has to be a list, as `field_of` does. What Go has pointers
    to may be anything."""
    field = field_of(schema, key)
    if field is not None:
        shape = resolved(field)
        is_text = shape.type == "string" and not shape.format and not field.ref
        if is_text or shape.additional_properties is not None:
            raise MergeError("expected slice or array type, but got: struct")
        if shape.items is not None and resolved(shape.items).items is not None:
            raise MergeError("unexpected slice of slice")
    return field


def shape_of(member: Schema | None) -> Schema | None:
    """Return the shape of a member that is an object."""
    return None if member is None else resolved(member)


def items_of(member: Schema) -> Schema | None:
    """Return the shape of the items of a member that is a list."""
    items = resolved(member).items
    return None if items is None else resolved(items)


def merge_strategy(member: Schema | None) -> str:
    """Return `merge`, `replace` or nothing."""
    return next((word for word in _words(member) if word in {"merge", "replace"}), "")


def retains_keys(member: Schema | None) -> bool:
    """Return whether a patch says which members stay, so that of several that exclude each other
    the one before goes."""
    return _RETAINING in _words(member)


def _words(member: Schema | None) -> list[str]:
    return [] if member is None else (member.patch_strategy or "").split(",")


def go_type(value: object) -> str:
    """Return the Go type of a JSON value, as texts of errors name it."""
    return "%!s(<nil>)" if value is None else type_text(value)


def bad_argument(expected: str, obj: object) -> MergeError:
    """Return the error about a value that is not of the type which a directive, or a list with a
    key, needs."""
    return MergeError(f"expected a {expected}, but received a {go_type(obj)}")


def require_map(item: object) -> JsonObject:
    """Return the item. MergeError when it is no object."""
    if isinstance(item, dict):
        return item
    raise bad_argument(go_type({}), item)


def require_key(item: object, key: str) -> None:
    """MergeError for an item of a list that the merge key cannot tell."""
    if key not in require_map(item):
        raise MergeError(f"map: {plain_text(item)} does not contain declared merge key: {key}")


def key_text(item: JsonObject, key: str) -> str:
    """Return the value of the merge key, as it is compared. MergeError when there is none."""
    require_key(item, key)
    return plain_text(item[key])


def item_mark(item: object, key: str) -> Hashable:
    """Return what tells an item of a list from the others: the value of the key; scalars are told
    by themselves. Numbers of the two kinds are never alike."""
    value = item.get(key) if key and isinstance(item, dict) else item
    return go_type(value), plain_text(value) if isinstance(value, dict | list) else value


# --- Merging -----------------------------------------------------------------

_DELETE_PREFIX: Final = DELETE_FROM_LIST[:-1]
_ORDER_PREFIX: Final = ELEMENT_ORDER[:-1]

_MAP: Final = go_type({})

_MALFORMED: Final = 400
_NOT_SUPPORTED: Final = 422


def merge_into(document: JsonObject, patch: JsonDict, schema: Schema | None) -> JsonDict:
    """Return the document with the patch merged into it, and parts of the patch inside. The patch
    loses directives and nulls, as far as they are used up. MergeError when a directive is wrong."""
    try:
        return _merged(dict(document), patch, schema)
    except RecursionError:
        raise MergeError(TOO_DEEP) from None


# --- objects ---


def _merged(original: JsonDict, patch: JsonDict, schema: Schema | None) -> JsonDict:
    """`patch` is taken apart; `original` is a new dict with members that are not ours."""
    if DIRECTIVE in patch:
        return _directed(patch)
    _retain(original, patch)
    _merge_ordered(original, patch, schema)
    for key, value in patch.items():
        deletes = key.startswith(_DELETE_PREFIX)
        field = (_field(key, "primitive list") or key) if deletes else key
        if value is None:
            original.pop(field, None)
        elif field in original and go_type(original[field]) == go_type(value):
            original[field] = _value(original[field], value, field, schema, deletes=deletes)
        elif not deletes:
            _take(original, field, value)
    return original


def _directed(patch: dict[str, object]) -> dict[str, object]:
    match patch[DIRECTIVE]:
        case "replace":
            del patch[DIRECTIVE]
            return patch
        case "delete":
            return {}
        case _:
            raise _bad_directive(patch)


def _bad_directive(patch: JsonDict) -> MergeError:
    directive = _as_text(patch[DIRECTIVE])
    return MergeError(f"unknown patch type: {directive} in map: {plain_text(patch)}")


def _as_text(directive: object) -> str:
    """Return the value as Go prints what should be a text, or should hold texts."""
    if isinstance(directive, list):
        return f"[{' '.join(map(_held_as_text, directive))}]"
    if isinstance(directive, dict):
        pairs = (f"{key}:{_held_as_text(directive[key])}" for key in sorted(directive))
        return f"map[{' '.join(pairs)}]"
    return directive if isinstance(directive, str) else f"%!s({_with_type(directive)})"


def _held_as_text(value: object) -> str:
    return "<nil>" if value is None else _as_text(value)


def _with_type(value: object) -> str:
    return "<nil>" if value is None else f"{go_type(value)}={plain_text(value)}"


def _field(directive: str, named: str) -> str:
    """Return the field that a directive is about."""
    _, slash, field = directive.partition("/")
    if not slash or directive.partition("/")[0] not in {_DELETE_PREFIX, _ORDER_PREFIX}:
        raise MergeError(f"invalid patch format of {named}", code=_MALFORMED)
    return field


def _retain(original: dict[str, object], patch: JsonDict) -> None:
    if RETAIN_KEYS not in patch:
        return
    retained = patch.pop(RETAIN_KEYS)
    set_there = [
        key
        for key, value in patch.items()
        if value is not None and not key.startswith((_ORDER_PREFIX, _DELETE_PREFIX))
    ]
    if not isinstance(retained, list):
        raise MergeError("invalid patch format of retainKeys", code=_MALFORMED)
    names = {item for item in retained if isinstance(item, str)}
    if not names.issuperset(set_there):
        raise MergeError("invalid patch format of retainKeys", code=_MALFORMED)
    for key in [key for key in original if key not in names]:
        del original[key]


def _value(mine: Any, theirs: Any, key: str, schema: Schema | None, *, deletes: bool) -> Any:
    """Return what becomes of a member that both sides have, in the same JSON type."""
    if isinstance(mine, dict):
        member = field_of(schema, key)
        if merge_strategy(member) == "replace":
            return theirs
        return _merged(dict(mine), theirs, shape_of(member))
    if isinstance(mine, list):
        return _list_value(list(mine), theirs, list_field_of(schema, key), deletes=deletes)
    return theirs


def _take(original: dict[str, object], key: str, value: object) -> None:
    """Take a value of the patch where the document has none, or one of another type."""
    _drop_nulls(value)
    without_directives = _without_directives(value)
    if without_directives is _DROPPED:
        original.pop(key, None)
    else:
        original[key] = without_directives


_DROPPED: Final = object()


def _drop_nulls(value: object) -> None:
    """Null members of objects go, at any depth."""
    if isinstance(value, dict):
        for key in [key for key, item in value.items() if item is None]:
            del value[key]
        for item in value.values():
            _drop_nulls(item)
    elif isinstance(value, list):
        for item in value:
            _drop_nulls(item)


def _without_directives(value: object) -> Any:
    """Return a value without objects that have a `$patch`, whatever it says; `_DROPPED` for one
    itself. Objects lose members, lists are made anew."""
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return _DROPPED
        for key, item in list(value.items()):
            without_directives = _without_directives(item)
            if without_directives is _DROPPED:
                del value[key]
            else:
                value[key] = without_directives
        return value
    if isinstance(value, list):
        return [item for item in map(_without_directives, value) if item is not _DROPPED]
    return value


# --- lists ---


def _list_value(
    mine: list[Any], theirs: list[Any], member: Schema | None, *, deletes: bool
) -> list[Any]:
    """`mine` is a new list. Whatever the strategy, items to delete are deleted."""
    if merge_strategy(member) != "merge" and not deletes:
        return theirs
    if not mine and not theirs:
        return mine
    key = "" if member is None else member.merge_key
    kind = _kind_of_items(mine, theirs)
    if kind == _MAP:
        if not key:
            raise MergeError(f"cannot merge lists without merge key for {_go_kind(member)}")
        return _merged_by_key(mine, theirs, key, None if member is None else items_of(member))
    if deletes:
        hashables = {item_mark(their, "") for their in theirs}
        return [item for item in mine if item_mark(item, "") not in hashables]
    by_mark = {item_mark(item, ""): item for item in (*theirs, *mine)}
    return ordered(list(by_mark.values()), theirs, mine, key, lambda: False)


def _kind_of_items(*lists: Sequence[object]) -> str:
    """Return the one Go type of all items."""
    kinds = {go_type(item): None for items in lists for item in items}
    if not kinds:
        raise MergeError("no elements in any of the given slices")
    if next(iter(kinds)) == go_type([]):
        raise MergeError("lists of lists are not supported", code=_NOT_SUPPORTED)
    if len(kinds) > 1:
        raise MergeError(f"list element types are not identical: {plain_text(list(lists))}")
    return next(iter(kinds))


def _are_maps(*lists: Sequence[object]) -> bool:
    return _kind_of_items(*lists) == _MAP


def _go_kind(member: Schema | None) -> str:
    items = None if member is None else items_of(member)
    return items.type if items is not None and items.type == "string" else "struct"


def _merged_by_key(
    mine: list[Any], theirs: list[object], key: str, schema: Schema | None
) -> list[Any]:
    """`mine` becomes what Go leaves of the array: items move up where others are deleted, and new
    ones take the places that are free behind them. The order of a patch looks there."""
    end, rest, replaces = _without_special(mine, theirs, key)
    if replaces:
        return ordered(rest, [], rest, key, lambda: True)
    before, result = mine[:end], mine[:end]
    places = {
        item_mark(item, key): i for i, item in reversed(list(enumerate(result))) if key in item
    }
    for item in rest:
        require_key(item, key)
        position = places.get(item_mark(item, key))
        if position is None:
            places[item_mark(item, key)] = len(result)
            mine[len(result) : len(result) + 1] = [item] if len(result) < len(mine) else []
            result.append(item)
        else:
            result[position] = _merged(
                dict(result[position]) if position < end else result[position], item, schema
            )
    return ordered(result, rest, before, key, lambda: True)


def _without_special(
    mine: list[Any], theirs: list[Any], key: str
) -> tuple[int, list[JsonDict], bool]:
    """Return how many of `mine` no directive takes away (they come first, then), the items of the
    patch that are no directive, and whether these are all."""
    rest: list[JsonDict] = []
    removed = set()
    replaces = False
    for item in theirs:
        directive = item.get(DIRECTIVE)
        if DIRECTIVE not in item:
            rest.append(item)
        elif directive == "delete":
            require_key(item, key)
            removed.add(item_mark(item, key))
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise MergeError("merging lists cannot yet be specified in the patch")
        else:
            raise _bad_directive(item)
    result = [item for item in mine if key not in item or item_mark(item, key) not in removed]
    mine[: len(result)] = result
    return len(result), rest, replaces


def _merge_ordered(original: dict[str, object], patch: JsonDict, schema: Schema | None) -> None:
    """Merge the lists of which the patch says the order: merged and ordered, and out of the
    patch."""
    for directive in [key for key in patch if key.startswith(_ORDER_PREFIX)]:
        order = _list(patch.pop(directive))
        field = _field(directive, "setElementOrder list")
        mine = _list(original[field]) if field in original else None
        theirs = _list(patch[field]) if field in patch else None
        member = list_field_of(schema, field)
        key = "" if member is None else member.merge_key
        require_in_order(theirs or [], order, key)
        before = list(mine or ())
        if mine is not None and theirs is not None:
            list_value = _list_value(before, theirs, member, deletes=False)
        elif theirs is not None:
            list_value = _without_directives(theirs)
        elif mine is not None:
            list_value = mine
        else:
            continue
        of_maps = partial(_are_maps, mine or [], theirs or [])
        original[field] = ordered(list_value, order, before, key, of_maps)
        patch.pop(field, None)


def _list(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    raise bad_argument(go_type([]), value)


# --- the order of lists ---

# Items that the patch names come in its sequence, the others in the one they had; the two are
# merged by where the items stood before. As `normalizeElementOrder` of k8s.io/apimachinery
# `pkg/util/strategicpatch/patch.go`.

_SMALL: Final = 20
"""So many items Go sorts by insertion."""

_Places = Mapping[Hashable, int]


def ordered(
    items: Sequence[Any],
    order: Sequence[Any],
    before: Sequence[Any],
    key: str,
    of_maps: Callable[[], bool],
) -> list[Any]:
    """`items` in the sequence of `order`, and else of `before`. `of_maps` says whether the items
    are objects, or raises. MergeError when items that are told by a key lack it, be it that the
    list has none."""
    ranks, places = _first_places(order, key), _first_places(before, key)
    if key:
        _require_maps(items, order, ranks, key)
    named = [element for element in items if item_mark(element, key) in ranks]
    others = [element for element in items if item_mark(element, key) not in ranks]
    if of_maps():
        for item in (*order, *before):
            require_key(item, key)
    return _interleaved(_sorted(others, places, key), _sorted(named, ranks, key), places, key)


def _first_places(items: Sequence[object], key: str) -> _Places:
    return {
        item_mark(item, key): i
        for i, item in reversed(list(enumerate(items)))
        if not key or (isinstance(item, dict) and key in item)
    }


def _require_maps(
    items: Iterable[object], order: Sequence[object], ranks: _Places, key: str
) -> None:
    """Items of the order are looked at one after the other until the right one comes."""
    wrong = next(
        (i for i, element in enumerate(order) if not isinstance(element, dict)), len(order)
    )
    for item in items:
        require_key(item, key)
        if wrong < ranks.get(item_mark(item, key), len(order)):
            raise MergeError(f"value for key {wrong} is not a map")


def _sorted(items: list[Json], places: _Places, key: str) -> list[Any]:
    """Sorted by place; deletions that stand in a new item, where they delete nothing, come last. An
    item that has no place is less than any other, as any other is less than it: the result is what
    Go's way of sorting makes of that."""
    deletions = [element for element in items if is_deletion(element)]
    if deletions:
        return [
            *_sorted([element for element in items if not is_deletion(element)], places, key),
            *deletions,
        ]
    marks = [item_mark(element, key) for element in items]
    if all(mark in places for mark in marks):
        return sorted(items, key=lambda value: places[item_mark(value, key)])
    if len(items) > _SMALL:
        return sorted(items, key=lambda value: places.get(item_mark(value, key), -1))
    result: list[tuple[int, Json]] = []
    for mark, item in zip(marks, items, strict=True):
        place, index = places.get(mark, -1), len(result)
        while index and (place < 0 or result[index - 1][0] < 0 or place < result[index - 1][0]):
            index -= 1
        result.insert(index, (place, item))
    return [element for _, element in result]


def is_deletion(item: object) -> bool:
    """Return whether an item of a patch says that an item goes."""
    return isinstance(item, dict) and item.get(DIRECTIVE) == "delete"


def _interleaved(left: list[Json], right: list[Json], places: _Places, key: str) -> list[object]:
    result: list[Json] = []
    i = j = 0
    while i < len(left) and j < len(right):
        mine, other = (places.get(item_mark(item, key)) for item in (left[i], right[j]))
        if mine is not None and other is not None and mine < other:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return [*result, *left[i:], *right[j:]]


def require_in_order(theirs: Sequence[Any], order: Sequence[Any], key: str) -> None:
    """MergeError unless the items of a patch stand in its order, in the same sequence. Those with
    directives are passed over, but for those that the order leaves at the end."""
    if not theirs or not order:
        return
    without_deletions = _without_deletions(theirs) if key else list(theirs)
    i = j = 0
    while i < len(without_deletions) and j < len(order):
        if isinstance(without_deletions[i], dict) and DIRECTIVE in without_deletions[i]:
            i += 1
            continue
        if key:
            require_map(order[j])
            require_key(without_deletions[i], key)
            require_key(order[j], key)
        i += item_mark(without_deletions[i], key) == item_mark(order[j], key)
        j += 1
    if i < len(without_deletions) and j >= len(order):
        raise MergeError(
            f"The order in patch list:\n{plain_text(list(theirs))}\n doesn't match "
            f"{ELEMENT_ORDER[:-1]} list:\n{plain_text(list(order))}\n"
        )


def _without_deletions(items: Sequence[object]) -> list[Any]:
    result = []
    for item in items:
        require_map(item)
        if not is_deletion(item):
            result.append(item)
    return result
