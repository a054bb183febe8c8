"""Alternations with common beginnings taken out, as Go's parser does.

`docker[.]io|docker[.]com` becomes `docker[.](?:io|com)`: matching stays the same, and what is left
is much more often free of choices (see `backtracking`), besides having the height Go measures.
"""

from __future__ import annotations

from collections.abc import Callable

from celadon.cel.re2.trees.charsets import CharSet, fold_char, normalize, single
from celadon.cel.re2.trees.pattern_tree import (
    EMPTY,
    Alternate,
    Chars,
    Concat,
    Empty,
    Literal,
    Node,
    Repeat,
    alternate,
    concat,
)

# Go recurses once per level of common prefixes. Ours stops here: deeper ones, which take a pattern
# like `a|ab|abc|...` with as many branches, stay as they are.
_MAX_DEPTH = 40


def single_char_set(node: Node) -> CharSet | None:
    """The set of a node that matches exactly one character by itself."""
    if isinstance(node, Chars):
        return node.chars
    if isinstance(node, Literal) and len(node.text) == 1:
        return fold_char(node.text) if node.fold else single(node.text)
    return None


def merge_single_chars(first: Node, second: Node) -> Node | None:
    """`a|b` as one set; None when either side is not a single character."""
    if isinstance(first, Literal) and len(first.text) == 1 and first == second:
        return first
    left = single_char_set(first)
    right = single_char_set(second)
    if left is None or right is None:
        return None
    return Chars(normalize(left + right))


def alternatives(subs: list[Node], depth: int = 0) -> Node:
    """The alternation of `subs`, flattened and factored."""
    flat: list[Node] = []
    for sub in subs:
        flat.extend(sub.subs if isinstance(sub, Alternate) else (sub,))
    if len(flat) > 1 and depth < _MAX_DEPTH:
        flat = _factor(flat, _leading_string, _strip_string, depth)
        flat = _factor(flat, _leading_chars, _strip_first, depth)
        flat = _merge_runs(flat)
    return flat[0] if len(flat) == 1 else alternate(tuple(flat))


def _factor(
    subs: list[Node],
    leading: Callable[[Node, Node | None], Node | None],
    strip: Callable[[Node, Node], Node],
    depth: int,
) -> list[Node]:
    """Neighbours that begin alike become one: what they share, then the rest of each.

    `leading(node, shared)` is what `node` has in common with `shared` (or begins with, when that is
    None); `strip(node, shared)` is the node without it.
    """
    out: list[Node] = []
    run: list[Node] = []
    shared: Node | None = None
    for sub in subs:
        common = leading(sub, shared) if run and shared is not None else None
        if common is not None:
            shared = common
            run.append(sub)
            continue
        out.extend(_factored(run, shared, strip, depth))
        run = [sub]
        shared = leading(sub, None)
    out.extend(_factored(run, shared, strip, depth))
    return out


def _factored(
    run: list[Node], shared: Node | None, strip: Callable[[Node, Node], Node], depth: int
) -> list[Node]:
    if len(run) < 2 or shared is None:
        return run
    rest = alternatives([strip(sub, shared) for sub in run], depth + 1)
    return [concat((shared, rest))]


def _first(node: Node) -> Node:
    return node.subs[0] if isinstance(node, Concat) else node


def _leading_string(node: Node, shared: Node | None) -> Node | None:
    first = _first(node)
    if not isinstance(first, Literal):
        return None
    if shared is None:
        return first
    if not isinstance(shared, Literal) or shared.fold != first.fold:
        return None
    same = 0
    for left, right in zip(shared.text, first.text, strict=False):
        if left != right:
            break
        same += 1
    return Literal(shared.text[:same], shared.fold) if same else None


def _strip_string(node: Node, shared: Node) -> Node:
    assert isinstance(shared, Literal)
    first = _first(node)
    assert isinstance(first, Literal)
    text = first.text[len(shared.text) :]
    return _with_first(node, Literal(text, first.fold) if text else None)


def _leading_chars(node: Node, shared: Node | None) -> Node | None:
    """Only a set, or a fixed number of one: sharing more would change which branch wins."""
    first = _first(node)
    sole = first.sub if isinstance(first, Repeat) and first.least == first.most else first
    if single_char_set(sole) is None:
        return None
    return first if shared is None or shared == first else None


def _strip_first(node: Node, shared: Node) -> Node:
    return _with_first(node, None)


def _with_first(node: Node, first: Node | None) -> Node:
    """The node with its first part replaced, or dropped."""
    rest = node.subs[1:] if isinstance(node, Concat) else ()
    parts = ((first,) if first is not None else ()) + rest
    if not parts:
        return EMPTY
    return parts[0] if len(parts) == 1 else concat(parts)


def _merge_runs(subs: list[Node]) -> list[Node]:
    """Neighbouring single characters become one set, neighbouring empty matches one."""
    out: list[Node] = []
    for sub in subs:
        if out:
            if isinstance(sub, Empty) and isinstance(out[-1], Empty):
                continue
            merged = merge_single_chars(out[-1], sub)
            if merged is not None:
                out[-1] = merged
                continue
        out.append(sub)
    return out
