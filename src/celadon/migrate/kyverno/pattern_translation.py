"""Patterns as conditions of CEL.

Kyverno's answer to a pattern is one of three: pass, skip, fail. Each part of a pattern is
translated into two conditions, whether it *skips* and whether it is *fine* (passes or skips). What
skips a rule as a whole becomes a match condition, what is fine a validation. Of maps
anchors are judged first, then fields in their order, and the first that does not pass decides; of
lists an item that fails decides, and a list all of whose items skip is skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeGuard

from celadon.kube import Json
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
    conjunction,
    constant,
    disjunction,
    every,
    filled,
    negation,
    some,
)
from celadon.migrate.kyverno.leaves import globbed, leaf, optional_leaf
from celadon.migrate.kyverno.patterns import (
    Anchor,
    AnchorKind,
    anchor_of,
    has_wildcards,
    ordinary_keys,
)
from celadon.migrate.kyverno.scalars import scalar_matches
from celadon.migrate.losses import NotTranslated
from celadon.migrate.shapes import Form, Place


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a part of a pattern skips, and whether what does not skip is fine."""

    skips: Condition
    fine: Condition
    never_fails: Condition
    """Whether the part passes or skips."""

    def passes(self) -> Condition:
        """Whether the part passes."""
        return conjunction([negation(self.skips), self.fine])


def judged(fine: Condition, skips: Condition = NEVER) -> Answer:
    """Return the answer of a part that is fine wherever it skips."""
    return Answer(skips, fine, fine)


_FINE: Final = judged(ALWAYS)
_WRONG: Final = judged(NEVER)


def in_order(answers: Sequence[Answer]) -> Answer:
    """Return the answer of parts that are judged one after the other until one does not pass."""
    skips, fine, never_fails = NEVER, ALWAYS, ALWAYS
    for one in reversed(answers):
        skips = disjunction([one.skips, conjunction([one.fine, skips])])
        fine = conjunction([one.fine, fine])
        never_fails = (
            one.never_fails
            if never_fails == ALWAYS
            else disjunction([one.skips, conjunction([one.fine, never_fails])])
        )
    return Answer(skips, fine, never_fails)


def guarded(place: Place, answer: Answer, absent: Answer) -> Answer:
    """Return an answer that is another one where the value is not there."""
    there = place.present()
    return Answer(
        _where(there, answer.skips, absent.skips),
        _where(there, answer.fine, absent.fine),
        _where(there, answer.never_fails, absent.never_fails),
    )


def _where(there: Condition, then: Condition, otherwise: Condition) -> Condition:
    """Return `then` where something is there, and what is a constant otherwise."""
    if otherwise == ALWAYS:
        return disjunction([negation(there), then])
    return conjunction([there, then])


def element(place: Place, pattern: Json) -> Answer:
    """Return the answer for a value that is there. Raises NotTranslated."""
    form = place.shape.form
    if isinstance(pattern, Mapping):
        if form not in (Form.FIELDS, Form.MAP, Form.ANY):
            return _WRONG
        return _map(place, pattern)
    if _is_list(pattern):
        return _list(place, pattern) if form in (Form.LIST, Form.ANY) else _WRONG
    if form is Form.LIST:
        return _scalars(place, pattern)
    if form in (Form.FIELDS, Form.MAP):
        return _WRONG
    return judged(leaf(place.plain, form, pattern))


def _is_list(pattern: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(pattern, Sequence) and not isinstance(pattern, str)


def _scalars(place: Place, pattern: Json) -> Answer:
    item = place.item(place.item_name)
    return judged(every(place.plain, item.root, leaf(item.root, item.shape.form, pattern)))


def _list(place: Place, patterns: Sequence[Json]) -> Answer:
    if not patterns:
        return _WRONG
    first = patterns[0]
    if _is_list(first):
        raise NotTranslated("a list of lists in a pattern")
    if not isinstance(first, Mapping):
        return _scalars(place, first)
    item = place.item(place.item_name)
    answer = element(item, first)
    items = place.plain
    fine = every(items, item.root, answer.never_fails)
    if answer.skips == NEVER:
        return judged(fine)
    some_item = ALWAYS if place.is_never_empty else filled(items)
    return judged(fine, conjunction([some_item, every(items, item.root, answer.skips)]))


def _map(place: Place, pattern: Mapping[str, Json]) -> Answer:
    anchors = [(a, pattern[key]) for key in sorted(pattern) if (a := _judged_anchor(key))]
    conditions = [
        _optional(place, anchor.key, value, _FINE if anchor.kind is AnchorKind.GLOBAL else _WRONG)
        for anchor, value in anchors
        if anchor.kind in _CONDITIONS
    ]
    others = [
        (anchor, _anchored(place, anchor, value))
        for anchor, value in anchors
        if anchor.kind not in _CONDITIONS
    ]
    all_skip = NEVER
    if not conditions and others and all(a.kind is AnchorKind.EQUALITY for a, _ in others):
        all_skip = conjunction(answer.skips for _, answer in others)
    fields = [_field(place, key, pattern[key]) for key in ordinary_keys(pattern)]
    return in_order(
        [
            judged(ALWAYS, negation(conjunction(one.passes() for one in conditions))),
            judged(conjunction(answer.never_fails for _, answer in others), all_skip),
            *fields,
        ]
    )


_CONDITIONS: Final = (AnchorKind.CONDITION, AnchorKind.GLOBAL)


def _judged_anchor(key: str) -> Anchor | None:
    anchor = anchor_of(key)
    return anchor if anchor and anchor.kind is not AnchorKind.ADDITION else None


def _anchored(place: Place, anchor: Anchor, pattern: Json) -> Answer:
    match anchor.kind:
        case AnchorKind.NEGATION:
            return judged(negation(_present(place, anchor.key)))
        case AnchorKind.EXISTENCE:
            field = _member(place, anchor.key)
            return guarded(field, _exists(field.there(), pattern), _FINE) if field else _FINE
    return _optional(place, anchor.key, pattern, _FINE)


def _present(place: Place, key: str) -> Condition:
    """Return whether a field is there, or a key that is meant by wildcards."""
    if has_wildcards(key):
        return some(place.plain, "key", globbed("key", key))
    field = _member(place, key)
    return field.present() if field else NEVER


def _member(place: Place, key: str) -> Place | None:
    shape = place.shape.member(key)
    return place.member(key, shape) if shape is not None else None


def _field(place: Place, key: str, pattern: Json) -> Answer:
    if anchor_of(key) is not None:
        raise NotTranslated("an anchor `+` in a validation")
    return _optional(place, key, pattern, _of_nothing(pattern))


def _of_nothing(pattern: Json) -> Answer:
    """Return what an ordinary field of a pattern says where there is no value."""
    is_scalar = not isinstance(pattern, Mapping) and not _is_list(pattern)
    return judged(constant(is_scalar and pattern != "*" and scalar_matches(None, pattern)))


def _optional(place: Place, key: str, pattern: Json, absent: Answer) -> Answer:
    """Return the answer for a field that may be absent."""
    if place.shape.form in (Form.MAP, Form.ANY) and has_wildcards(key):
        return _wild_key(place, key, pattern, absent)
    field = _member(place, key)
    if field is None:
        return absent
    if pattern == "*":
        return guarded(field, _FINE, absent)
    if isinstance(pattern, Mapping):
        # What is below says the same of a field that is absent: one chain of optional steps.
        is_chain = field.shape.form in (Form.FIELDS, Form.MAP) and _is_chain(pattern, absent)
        return (
            _map(field, pattern)
            if is_chain
            else guarded(field, element(field.there(), pattern), absent)
        )
    if _is_list(pattern) or field.shape.form in (Form.LIST, Form.MAP, Form.FIELDS):
        return guarded(field, element(field.there(), pattern), absent)
    return judged(optional_leaf(field, pattern, fine_if_absent=absent.fine == ALWAYS))


def _is_chain(pattern: Mapping[str, Json], absent: Answer) -> bool:
    """Return whether every field of a pattern says of nothing what is said of the whole."""
    return bool(pattern) and all(
        not has_wildcards(key)
        and not _is_list(value)
        and _says_of_nothing(key, value) == absent
        and (not isinstance(value, Mapping) or _is_chain(value, absent))
        for key, value in pattern.items()
    )


def _says_of_nothing(key: str, pattern: Json) -> Answer | None:
    anchor = anchor_of(key)
    if anchor is None:
        return _of_nothing(pattern)
    return _FINE if anchor.kind is AnchorKind.EQUALITY else None


def _exists(place: Place, patterns: Json) -> Answer:
    if not _is_list(patterns) or place.shape.form not in (Form.LIST, Form.ANY):
        return _WRONG
    item = place.item(place.item_name)
    passing = (some(place.plain, item.root, element(item, one).passes()) for one in patterns)
    return judged(conjunction(passing))


def _wild_key(place: Place, key: str, pattern: Json, absent: Answer) -> Answer:
    """Return the answer for keys of labels or annotations that are meant by wildcards."""
    if not isinstance(pattern, str):
        raise NotTranslated("wildcards in keys of others than strings")
    fits = globbed("key", key)
    value = leaf(f"{place.plain}[key]", place.shape.item().form, pattern)
    fine = every(place.plain, "key", disjunction([negation(fits), value]))
    if absent == _FINE:
        return judged(fine)
    return judged(conjunction([some(place.plain, "key", fits), fine]))
