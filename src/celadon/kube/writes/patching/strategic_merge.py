"""Strategic merge patches: merge patches that know which lists are merged, and by what.

A list whose field has the strategy `merge` is merged, by its merge key or, of scalars, as a set;
any other list is replaced. Directives inside the patch change that: `$patch` (`replace`, `delete`),
`$retainKeys`, `$setElementOrder/FIELD` and `$deleteFromPrimitiveList/FIELD`. As k8s.io/apimachinery
`pkg/util/strategicpatch`, with the options of a server: nulls for what is not there are ignored,
lists of patch and order are parallel.

Documents and patches are JSON values; neither is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.kube.go.go_text import plain_text
from celadon.kube.json_copies import fresh
from celadon.kube.json_types import JsonObject
from celadon.kube.schemas.schema_model import Schema
from celadon.kube.writes.patching.merge_strategies import (
    DELETE_FROM_LIST,
    DIRECTIVE,
    ELEMENT_ORDER,
    RETAIN_KEYS,
    MergeError,
    item_mark,
    items_of,
    key_text,
    member_of,
    merge_strategy,
    shape_of,
)


def strategic_merge(
    document: JsonObject, patch: JsonObject, schema: Schema | None
) -> dict[str, Any]:
    """The document with the patch merged into it. MergeError when a directive is wrong."""
    try:
        made: dict[str, Any] = _merged(dict(document), fresh(patch), schema)
    except RecursionError:
        raise MergeError("exceeded max depth") from None
    return made


def _merged(original: dict[str, Any], patch: dict[str, Any], schema: Schema | None) -> Any:
    """`patch` is ours to take apart; `original` is a new dict with members that are not ours."""
    if DIRECTIVE in patch:
        return _directed(patch)
    _retain(original, patch)
    _merge_ordered(original, patch, schema)
    for key, value in patch.items():
        if key.startswith(DELETE_FROM_LIST):
            field = key.removeprefix(DELETE_FROM_LIST)
            mine, gone = original.get(field), _list(value)
            if isinstance(mine, list):
                original[field] = _without(mine, gone, member_of(schema, field))
        elif value is None:
            original.pop(key, None)
        elif key not in original:
            original[key] = _taken(value)
        else:
            original[key] = _value(original[key], value, key, schema)
    return original


def _directed(patch: dict[str, Any]) -> dict[str, Any]:
    match patch.pop(DIRECTIVE):
        case "replace":
            return patch
        case "delete":
            return {}
        case other:
            raise _bad_directive(other, patch)


def _bad_directive(directive: object, patch: JsonObject) -> MergeError:
    shown = plain_text({**patch, DIRECTIVE: directive})
    return MergeError(f"unknown patch type: {plain_text(directive)} in map: {shown}")


def _retain(original: dict[str, Any], patch: dict[str, Any]) -> None:
    if RETAIN_KEYS not in patch:
        return
    kept = patch.pop(RETAIN_KEYS)
    set_there = [
        key
        for key, value in patch.items()
        if value is not None and not key.startswith((ELEMENT_ORDER, DELETE_FROM_LIST))
    ]
    if not isinstance(kept, list) or any(key not in kept for key in set_there):
        raise MergeError("invalid patch format of retainKeys", is_malformed=True)
    for key in [key for key in original if key not in kept]:
        del original[key]


def _value(mine: object, theirs: object, key: str, schema: Schema | None) -> Any:
    """What becomes of a member that both sides have."""
    member = member_of(schema, key)
    if isinstance(mine, dict) and isinstance(theirs, dict):
        if merge_strategy(member) == "replace":
            return theirs
        return _merged(dict(mine), theirs, shape_of(member))
    if isinstance(mine, list) and isinstance(theirs, list):
        if merge_strategy(member) == "merge" and member is not None:
            return _merged_list(mine, theirs, member)
        return theirs
    return _taken(theirs)


def _without(mine: list[Any], gone: list[Any], member: Schema | None) -> list[Any]:
    """A list of scalars without some of them; a list that is not merged is replaced even so."""
    if merge_strategy(member) != "merge":
        return gone
    _require_one_kind(mine, gone)
    return [one for one in mine if not _holds(gone, one)]


def _taken(value: object) -> Any:
    """A value of the patch where the document has none: without nulls and directives."""
    if isinstance(value, dict):
        return {
            key: _taken(item)
            for key, item in value.items()
            if item is not None and not _is_directive(key)
        }
    if isinstance(value, list):
        return [
            _taken(item) for item in value if not (isinstance(item, dict) and DIRECTIVE in item)
        ]
    return value


def _is_directive(key: str) -> bool:
    return key in {DIRECTIVE, RETAIN_KEYS} or key.startswith((ELEMENT_ORDER, DELETE_FROM_LIST))


def _list(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    raise MergeError(f"expected a []interface {{}}, but received a {_go_kind(value)}")


def _go_kind(value: object) -> str:
    if isinstance(value, dict):
        return "map[string]interface {}"
    kinds = {str: "string", bool: "bool", int: "int64", float: "float64", type(None): "<nil>"}
    return kinds.get(value.__class__, "[]interface {}")


def _merged_list(mine: list[Any], theirs: list[Any], member: Schema) -> list[Any]:
    """A list with the strategy `merge`, ordered by the patch where it says anything."""
    if not mine and not theirs:
        return mine
    key = member.merge_key
    _require_one_kind(mine, theirs)
    if not isinstance((mine or theirs)[0], dict):
        return _ordered(_union(mine, theirs), theirs, mine, "")
    if not key:
        raise MergeError("cannot merge lists without merge key for []interface {}")
    kept, rest = _special(mine, theirs, key)
    return _ordered(_by_key(kept, rest, key, items_of(member)), rest, mine, key)


def _require_one_kind(mine: list[Any], theirs: list[Any]) -> None:
    if len(set(map(_go_kind, (*mine, *theirs)))) > 1:
        raise MergeError(f"list element types are not identical: {plain_text([mine, theirs])}")


def _union(mine: list[Any], theirs: list[Any]) -> list[Any]:
    found: list[Any] = []
    for one in (*mine, *theirs):
        if not _holds(found, one):
            found.append(one)
    return found


def _holds(items: Sequence[Any], value: object) -> bool:
    return any(one.__class__ is value.__class__ and one == value for one in items)


def _special(
    mine: list[Any], theirs: list[Any], key: str
) -> tuple[list[Any], list[dict[str, Any]]]:
    """The document's items that no directive takes away, and the patch's that are no directive."""
    rest: list[dict[str, Any]] = []
    replaces = False
    for item in theirs:
        directive = item.get(DIRECTIVE)
        if DIRECTIVE not in item:
            rest.append(item)
        elif directive == "delete":
            wanted = key_text(item, key)
            mine = [one for one in mine if plain_text(one.get(key)) != wanted]
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise MergeError("merging lists cannot yet be specified in the patch")
        else:
            raise _bad_directive(directive, item)
    return ([] if replaces else mine), rest


def _by_key(
    mine: list[Any], theirs: list[dict[str, Any]], key: str, schema: Schema | None
) -> list[Any]:
    made = list(mine)
    for item in theirs:
        wanted = key_text(item, key)
        at = [i for i, one in enumerate(made) if plain_text(one.get(key)) == wanted]
        if at:
            made[at[0]] = _merged(dict(made[at[0]]), item, schema)
        else:
            made.append(_taken(item))
    return made


def _merge_ordered(original: dict[str, Any], patch: dict[str, Any], schema: Schema | None) -> None:
    """The lists of which the patch says the order: merged and ordered, and out of the patch."""
    for directive in [key for key in patch if key.startswith(ELEMENT_ORDER)]:
        order = _list(patch.pop(directive))
        field = directive.removeprefix(ELEMENT_ORDER)
        member = member_of(schema, field)
        key = "" if member is None else member.merge_key
        theirs = _list(patch[field]) if patch.get(field) is not None else None
        mine = original.get(field)
        if theirs is not None:
            _check_order(theirs, order, key)
        if isinstance(mine, list) and theirs is not None:
            found = _value(mine, theirs, field, schema)
        elif isinstance(mine, list):
            found = mine
        elif theirs is not None:
            found = _taken(theirs)
        else:
            continue
        patch.pop(field, None)
        original[field] = _ordered(found, order, mine if isinstance(mine, list) else [], key)


def _check_order(theirs: list[Any], order: list[Any], key: str) -> None:
    """The items of the patch stand in its order, in the same sequence."""
    wanted = [item_mark(one, key) for one in theirs if not _is_deletion(one)]
    position = 0
    for mark in (item_mark(one, key) for one in order):
        if position < len(wanted) and wanted[position] == mark:
            position += 1
    if position < len(wanted):
        raise MergeError(
            f"The order in patch list:\n{plain_text(theirs)}\n doesn't match {ELEMENT_ORDER[:-1]} "
            f"list:\n{plain_text(order)}\n"
        )


def _is_deletion(item: object) -> bool:
    return isinstance(item, dict) and item.get(DIRECTIVE) == "delete"


def _ordered(found: list[Any], order: Sequence[Any], before: Sequence[Any], key: str) -> list[Any]:
    """Items that `order` names in its sequence, the others in the one they had, the two merged by
    where they stood before."""
    ranks = {item_mark(one, key): i for i, one in reversed(list(enumerate(order)))}
    places = {item_mark(one, key): i for i, one in reversed(list(enumerate(before)))}
    named = [one for one in found if item_mark(one, key) in ranks]
    named.sort(key=lambda one: ranks[item_mark(one, key)])
    others = [one for one in found if item_mark(one, key) not in ranks]
    others.sort(key=lambda one: places.get(item_mark(one, key), len(places)))
    made: list[Any] = []
    while named and others:
        left, right = places.get(item_mark(others[0], key)), places.get(item_mark(named[0], key))
        comes_first = left is not None and right is not None and left < right
        made.append(others.pop(0) if comes_first else named.pop(0))
    return [*made, *named, *others]
