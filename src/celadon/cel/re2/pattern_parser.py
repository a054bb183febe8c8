"""RE2 patterns to trees, with Go's errors.

Follows golang/go `src/regexp/syntax/parse.go` under the flags of `regexp.Compile`: a stack of
finished nodes with markers for open parentheses and bars, so nesting costs no recursion, and errors
come in the order Go finds them. Some of what looks odd is there because limits and texts depend on
it: adjacent literals count as one node, alternations of single characters become a set.

Nodes are counted on the way as Go allocates them, see `limits`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from celadon.cel.re2 import pattern_tree
from celadon.cel.re2.character_classes import parse_class, parse_class_escape, parse_escape
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Factoring ---------------------------------------------------------------
#
# Alternations with common beginnings taken out, as Go's parser does.
#
# `docker[.]io|docker[.]com` becomes `docker[.](?:io|com)`: matching stays the same, and what is
# left is much more often free of choices (see `backtracking_proofs`), besides having the height Go
# measures.

# Go recurses once per level of common prefixes. Ours stops here: deeper ones, which take a pattern
# like `a|ab|abc|...` with as many branches, stay as they are.
_MAX_DEPTH = 40


def single_char_set(node: pattern_tree.Node) -> pattern_tree.CharSet | None:
    """Return the set of a node that matches exactly one character by itself."""
    if isinstance(node, pattern_tree.Chars):
        return node.chars
    if isinstance(node, pattern_tree.Literal) and len(node.text) == 1:
        return pattern_tree.fold_char(node.text) if node.fold else pattern_tree.single(node.text)
    return None


def merge_single_chars(
    first: pattern_tree.Node, second: pattern_tree.Node
) -> pattern_tree.Node | None:
    """`a|b` as one set; None when either side is not a single character."""
    if isinstance(first, pattern_tree.Literal) and len(first.text) == 1 and first == second:
        return first
    left = single_char_set(first)
    right = single_char_set(second)
    if left is None or right is None:
        return None
    return pattern_tree.Chars(pattern_tree.normalize(left + right))


def alternatives(subs: list[pattern_tree.Node], depth: int = 0) -> pattern_tree.Node:
    """Return the alternation of `subs`, flattened and factored."""
    flat: list[pattern_tree.Node] = []
    for sub in subs:
        flat.extend(sub.subs if isinstance(sub, pattern_tree.Alternate) else (sub,))
    if len(flat) > 1 and depth < _MAX_DEPTH:
        flat = _factor(flat, _leading_string, _strip_string, depth)
        flat = _factor(flat, _leading_chars, _strip_first, depth)
        flat = _merge_runs(flat)
    return flat[0] if len(flat) == 1 else pattern_tree.alternate(tuple(flat))


def _factor(
    subs: list[pattern_tree.Node],
    leading: Callable[[pattern_tree.Node, pattern_tree.Node | None], pattern_tree.Node | None],
    strip: Callable[[pattern_tree.Node, pattern_tree.Node], pattern_tree.Node],
    depth: int,
) -> list[pattern_tree.Node]:
    """Neighbours that begin alike become one: what they share, then the rest of each.

    `leading(node, shared)` is what `node` has in common with `shared` (or begins with, when that is
    None); `strip(node, shared)` is the node without it.
    """
    out: list[pattern_tree.Node] = []
    run: list[pattern_tree.Node] = []
    shared: pattern_tree.Node | None = None
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
    run: list[pattern_tree.Node],
    shared: pattern_tree.Node | None,
    strip: Callable[[pattern_tree.Node, pattern_tree.Node], pattern_tree.Node],
    depth: int,
) -> list[pattern_tree.Node]:
    if len(run) < 2 or shared is None:
        return run
    rest = alternatives([strip(sub, shared) for sub in run], depth + 1)
    return [pattern_tree.concat((shared, rest))]


def _first(node: pattern_tree.Node) -> pattern_tree.Node:
    return node.subs[0] if isinstance(node, pattern_tree.Concat) else node


def _leading_string(
    node: pattern_tree.Node, shared: pattern_tree.Node | None
) -> pattern_tree.Node | None:
    first = _first(node)
    if not isinstance(first, pattern_tree.Literal):
        return None
    if shared is None:
        return first
    if not isinstance(shared, pattern_tree.Literal) or shared.fold != first.fold:
        return None
    same = 0
    for left, right in zip(shared.text, first.text, strict=False):
        if left != right:
            break
        same += 1
    return pattern_tree.Literal(shared.text[:same], shared.fold) if same else None


def _strip_string(node: pattern_tree.Node, shared: pattern_tree.Node) -> pattern_tree.Node:
    assert isinstance(shared, pattern_tree.Literal)
    first = _first(node)
    assert isinstance(first, pattern_tree.Literal)
    text = first.text[len(shared.text) :]
    return _with_first(node, pattern_tree.Literal(text, first.fold) if text else None)


def _leading_chars(
    node: pattern_tree.Node, shared: pattern_tree.Node | None
) -> pattern_tree.Node | None:
    """Return the characters that branches may share: only a set, or a fixed number of one. To share
    more would change which branch wins."""
    first = _first(node)
    sole = (
        first.sub if isinstance(first, pattern_tree.Repeat) and first.least == first.most else first
    )
    if single_char_set(sole) is None:
        return None
    return first if shared is None or shared == first else None


def _strip_first(node: pattern_tree.Node, shared: pattern_tree.Node) -> pattern_tree.Node:
    return _with_first(node, None)


def _with_first(node: pattern_tree.Node, first: pattern_tree.Node | None) -> pattern_tree.Node:
    """Return the node with its first part replaced, or dropped."""
    rest = node.subs[1:] if isinstance(node, pattern_tree.Concat) else ()
    parts = ((first,) if first is not None else ()) + rest
    if not parts:
        return pattern_tree.EMPTY
    return parts[0] if len(parts) == 1 else pattern_tree.concat(parts)


def _merge_runs(subs: list[pattern_tree.Node]) -> list[pattern_tree.Node]:
    """Neighbouring single characters become one set, neighbouring empty matches one."""
    out: list[pattern_tree.Node] = []
    for sub in subs:
        if out:
            if isinstance(sub, pattern_tree.Empty) and isinstance(out[-1], pattern_tree.Empty):
                continue
            merged = merge_single_chars(out[-1], sub)
            if merged is not None:
                out[-1] = merged
                continue
        out.append(sub)
    return out


# --- Pattern limits ----------------------------------------------------------
#
# How large a pattern may be.
#
# Go bounds a pattern three ways (golang/go `regexp/syntax/parse.go` `checkLimits`): characters
# in classes, instructions, height. It looks at instructions only once the number of nodes it
# has allocated times the product of all repetition counts is large, so that number is kept here
# as Go's allocator, which reuses what was released, would have it.

MAX_HEIGHT = 1000

MAX_SIZE = (128 << 20) // 40
"""Instructions, as Go estimates them: 128 MB of 40 bytes each."""

MAX_CLASS_RUNES = (128 << 20) // 4
"""Ends of ranges in all classes together: 128 MB of 4 bytes each."""


class Limits:
    """Holds what Go's parser counts while it parses."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._nodes = 0
        self._free = 0
        self._class_runes = 0
        self._repeats = 1
        self._measuring = False

    def allocate(self) -> None:
        if self._free:
            self._free -= 1
        else:
            self._nodes += 1

    def release(self) -> None:
        self._free += 1

    def check(
        self, node: pattern_tree.Node, finished: Callable[[], list[pattern_tree.Node]]
    ) -> None:
        """Check the limits of a pattern. Raises `RegexError`. `finished` gives the nodes on the
        parser's stack."""
        if isinstance(node, pattern_tree.Chars):
            self._class_runes += 2 * len(node.chars)
        if self._class_runes > MAX_CLASS_RUNES or self._too_large(node, finished):
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.LARGE, self._pattern)
        if node.facts.height > MAX_HEIGHT:
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.NESTING_DEPTH, self._pattern)

    def _too_large(
        self, node: pattern_tree.Node, finished: Callable[[], list[pattern_tree.Node]]
    ) -> bool:
        if not self._measuring:
            if isinstance(node, pattern_tree.Repeat) and node.counted:
                count = max(1, node.least if node.most is None else node.most)
                self._repeats = min(MAX_SIZE, self._repeats * count)
            if self._nodes < MAX_SIZE // self._repeats:
                return False
            self._measuring = True
            if any(item.facts.size > MAX_SIZE for item in finished()):
                return True
        return node.facts.size > MAX_SIZE


MAX_REPEAT = 1000
"""Largest count in `x{n}`, and largest product of nested ones."""

# Characters up to the next one that means something; `]` and `}` mean nothing by themselves.
_PLAIN = late_pattern(r"[^\\()|^$.\[*+?{]+")
_COUNT = late_pattern(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}", re.ASCII)
_NAME = late_pattern(r"[A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Flags:
    """Holds which of `(?i)`, `(?m)`, `(?s)` and `(?U)` hold."""

    fold: bool = False
    multiline: bool = False
    dot_all: bool = False
    swap_greed: bool = False


@dataclass(frozen=True, slots=True)
class _Paren:
    """An open parenthesis; `index` is None when it captures nothing. `flags` return at its end."""

    index: int | None
    flags: Flags


@dataclass(frozen=True, slots=True)
class _Bar:
    """An alternation is open: what lies below, down to the parenthesis, are its branches."""


_Item = pattern_tree.Node | _Paren | _Bar

_ESCAPED_ASSERTIONS = {
    "A": pattern_tree.AssertionKind.BEGIN_TEXT,
    "z": pattern_tree.AssertionKind.END_TEXT,
    "b": pattern_tree.AssertionKind.WORD_BOUNDARY,
    "B": pattern_tree.AssertionKind.NOT_WORD_BOUNDARY,
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """A pattern as a tree, and how many groups capture."""

    tree: pattern_tree.Node
    groups: int


def parse(pattern: str) -> Parsed:
    """Parse a pattern. Raises `RegexError`."""
    _check_characters(pattern)
    return _Parser(pattern).parse()


def _check_characters(pattern: str) -> None:
    """Half of a surrogate pair is no character: the nearest a `str` comes to invalid UTF-8."""
    for index, char in enumerate(pattern) if not pattern.isascii() else ():
        if "\ud800" <= char <= "\udfff":
            fragment = pattern[index:].encode("utf-8", "replace").decode()
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_UTF8, fragment)


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._stack: list[_Item] = []
        self._flags = Flags()
        self._groups = 0
        self._limits = Limits(pattern)
        self._last_repeat: int | None = None

    def parse(self) -> Parsed:
        pattern = self._pattern
        end = len(pattern)
        while self._at < end:
            plain = _PLAIN.match(pattern, self._at)
            if plain is not None:
                self._at = plain.end()
                self._last_repeat = None
                self._literal_run(plain.group())
            else:
                before = self._at
                repeated = self._operator(pattern[before])
                self._last_repeat = before if repeated else None
        self._close_alternation()
        if len(self._stack) != 1:
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.MISSING_PAREN, pattern)
        tree = self._stack[0]
        assert not isinstance(tree, _Paren | _Bar)
        return Parsed(tree, self._groups)

    def _operator(self, char: str) -> bool:
        """Return what begins with this character; True when it was a repetition."""
        match char:
            case "*" | "+" | "?":
                least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
                self._repeat(least, most, self._at + 1, counted=False)
                return True
            case "{":
                return self._counted_repeat()
            case "(" if self._pattern.startswith("(?", self._at):
                self._perl_group()
            case "\\":
                self._escape()
            case "[":
                chars, self._at = parse_class(self._pattern, self._at, folded=self._flags.fold)
                self._new(pattern_tree.Chars(chars))
            case _:
                self._at += 1
                self._simple_operator(char)
        return False

    def _simple_operator(self, char: str) -> None:
        multiline = self._flags.multiline
        match char:
            case "(":
                self._open(capturing=True)
            case ")":
                self._close_paren()
            case "|":
                self._concat()
                if not self._swap_bar():
                    self._limits.allocate()
                    self._stack.append(_Bar())
            case "^":
                begin = (
                    pattern_tree.AssertionKind.BEGIN_LINE
                    if multiline
                    else pattern_tree.AssertionKind.BEGIN_TEXT
                )
                self._new(pattern_tree.Assertion(begin))
            case "$":
                end = (
                    pattern_tree.AssertionKind.END_LINE
                    if multiline
                    else pattern_tree.AssertionKind.END_TEXT
                )
                self._new(pattern_tree.Assertion(end))
            case _:
                self._new(
                    pattern_tree.Chars(
                        pattern_tree.ANY if self._flags.dot_all else pattern_tree.ANY_BUT_NEWLINE
                    )
                )

    # Pushing nodes.

    def _finished(self) -> list[pattern_tree.Node]:
        return [item for item in self._stack if not isinstance(item, _Paren | _Bar)]

    def _new(self, node: pattern_tree.Node) -> None:
        self._limits.allocate()
        self._push(node)

    def _push(self, node: pattern_tree.Node) -> None:
        literal = _as_literal(node.chars) if isinstance(node, pattern_tree.Chars) else None
        joins = self._top_literals_join()
        if literal is not None:
            self._stack.append(literal)
            if joins:
                return
            node = literal
        else:
            if joins:
                self._limits.release()
            self._stack.append(node)
        self._limits.check(node, self._finished)

    def _top_literals_join(self) -> bool:
        """Go joins the two topmost literals before each push; we join them all in `_concat`."""
        if len(self._stack) < 2:
            return False
        first, second = self._stack[-2:]
        return (
            isinstance(first, pattern_tree.Literal)
            and isinstance(second, pattern_tree.Literal)
            and first.fold == second.fold
        )

    def _literal_run(self, text: str) -> None:
        """Push a run of literals. The last character stays alone: a repetition may follow it."""
        if self._flags.fold:
            text = "".join(chr(pattern_tree.orbit(ord(char))[0]) for char in text)
        if len(text) > 1:
            self._new(pattern_tree.Literal(text[:-1], self._flags.fold))
        if len(text) > 2:
            self._limits.allocate()
            self._limits.release()
        self._new(pattern_tree.Literal(text[-1], self._flags.fold))

    # Repetition.

    def _counted_repeat(self) -> bool:
        match = _COUNT.match(self._pattern, self._at)
        if match is None:
            self._at += 1
            self._literal_run("{")
            return False
        least = _count(match.group(1))
        most: int | None = least
        if match.group(2) is not None:
            most = None if match.group(3) is None else _count(match.group(3))
        if least > MAX_REPEAT or (most is not None and (most > MAX_REPEAT or least > most)):
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_REPEAT_SIZE, match.group())
        self._repeat(least, most, match.end(), counted=True)
        return True

    def _repeat(self, least: int, most: int | None, after: int, *, counted: bool) -> None:
        """Wrap the topmost node; `self._at` is at the operator, `after` follows it."""
        before = self._at
        greedy = not self._flags.swap_greed
        if self._pattern.startswith("?", after):
            after += 1
            greedy = not greedy
        fragment = self._pattern[before:after]
        if self._last_repeat is not None:
            fragment = self._pattern[self._last_repeat : after]
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_REPEAT_OPERATOR, fragment)
        if not self._stack or isinstance(self._stack[-1], _Paren | _Bar):
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.MISSING_REPEAT_ARGUMENT, fragment)
        node = pattern_tree.repeat(self._stack[-1], least, most, greedy=greedy, counted=counted)
        self._limits.allocate()
        self._stack[-1] = node
        self._limits.check(node, self._finished)
        large = counted and (least >= 2 or (most or 0) >= 2)
        if large and node.facts.repeats > MAX_REPEAT:
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_REPEAT_SIZE, fragment)
        self._at = after

    # Groups and flags.

    def _open(self, *, capturing: bool) -> None:
        index = None
        if capturing:
            self._groups += 1
            index = self._groups
        self._limits.allocate()
        if self._top_literals_join():
            self._limits.release()
        self._stack.append(_Paren(index, self._flags))

    def _close_paren(self) -> None:
        self._close_alternation()
        if len(self._stack) < 2 or not isinstance(self._stack[-2], _Paren):
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.UNEXPECTED_PAREN, self._pattern)
        sub = self._stack.pop()
        paren = self._stack.pop()
        assert isinstance(paren, _Paren)
        assert not isinstance(sub, _Paren | _Bar)
        self._flags = paren.flags
        self._push(sub if paren.index is None else pattern_tree.capture(sub, paren.index))

    def _perl_group(self) -> None:
        """`(?P<name>`, `(?<name>`, `(?flags)` and `(?flags:`."""
        start = self._at
        rest = len(self._pattern) - start
        for opening in ("(?P<", "(?<"):
            if self._pattern.startswith(opening, start) and rest > len(opening):
                self._named_group(len(opening))
                return
        self._flag_group()

    def _named_group(self, name_offset: int) -> None:
        start = self._at
        end = self._pattern.find(">", start)
        if end < 0:
            raise pattern_tree.RegexError(
                pattern_tree.ErrorCode.INVALID_NAMED_CAPTURE, self._pattern[start:]
            )
        if _NAME.fullmatch(self._pattern, start + name_offset, end) is None:
            raise pattern_tree.RegexError(
                pattern_tree.ErrorCode.INVALID_NAMED_CAPTURE, self._pattern[start : end + 1]
            )
        self._open(capturing=True)
        self._at = end + 1

    def _flag_group(self) -> None:
        start = self._at
        index = start + 2
        changes: dict[str, bool] = {}
        is_on = True
        has_flag = False
        while index < len(self._pattern):
            char = self._pattern[index]
            index += 1
            if char in "imsU":
                changes[char] = is_on
                has_flag = True
            elif char == "-" and is_on:
                is_on = False
                has_flag = False
            elif char in ":)" and (is_on or has_flag):
                if char == ":":
                    self._open(capturing=False)
                self._flags = _changed(self._flags, changes)
                self._at = index
                return
            else:
                break
        raise pattern_tree.RegexError(
            pattern_tree.ErrorCode.INVALID_PERL, self._pattern[start:index]
        )

    # Escapes.

    def _escape(self) -> None:
        pattern, index = self._pattern, self._at
        letter = pattern[index + 1 : index + 2]
        if letter == "C":
            raise pattern_tree.RegexError(
                pattern_tree.ErrorCode.INVALID_ESCAPE, pattern[index : index + 2]
            )
        if letter == "Q":
            end = pattern.find("\\E", index + 2)
            text = pattern[index + 2 :] if end < 0 else pattern[index + 2 : end]
            self._at = len(pattern) if end < 0 else end + 2
            if text:
                self._literal_run(text)
            return
        if letter in _ESCAPED_ASSERTIONS:
            self._at += 2
            self._new(pattern_tree.Assertion(_ESCAPED_ASSERTIONS[letter]))
            return
        group = parse_class_escape(pattern, index, folded=self._flags.fold)
        if group is not None:
            self._at = group[1]
            self._new(pattern_tree.Chars(group[0]))
        else:
            char, self._at = parse_escape(pattern, index)
            self._literal_run(char)

    # Concatenation and alternation.

    def _take_finished(self) -> list[pattern_tree.Node]:
        """Take everything above the topmost marker off the stack."""
        start = len(self._stack)
        nodes: list[pattern_tree.Node] = []
        while start and not isinstance(item := self._stack[start - 1], _Paren | _Bar):
            nodes.append(item)
            start -= 1
        del self._stack[start:]
        nodes.reverse()
        return nodes

    def _concat(self) -> None:
        if self._top_literals_join():
            self._limits.release()
        nodes = _join_literals(self._take_finished())
        if len(nodes) == 1:
            self._push(nodes[0])
            return
        self._limits.allocate()
        self._push(pattern_tree.concat(tuple(_flatten(nodes))) if nodes else pattern_tree.EMPTY)

    def _close_alternation(self) -> None:
        self._concat()
        if self._swap_bar():
            self._stack.pop()
        nodes = self._take_finished()
        if len(nodes) == 1:
            self._push(nodes[0])
        else:
            self._limits.allocate()
            self._push(alternatives(nodes))

    def _swap_bar(self) -> bool:
        """Move the branch just finished below the bar; return False when there is no bar."""
        stack = self._stack
        if len(stack) < 2 or not isinstance(stack[-2], _Bar):
            return False
        branch = stack[-1]
        before = stack[-3] if len(stack) >= 3 else None
        assert not isinstance(branch, _Paren | _Bar)
        if before is not None and not isinstance(before, _Paren | _Bar):
            merged = merge_single_chars(before, branch)
            if merged is not None:
                self._limits.release()
                stack[-3:] = [merged, stack[-2]]
                return True
        stack[-2:] = [branch, stack[-2]]
        return True


def _as_literal(chars: pattern_tree.CharSet) -> pattern_tree.Literal | None:
    """Return a class of one character, or of one character in both cases, as a literal."""
    if len(chars) > 2 or not chars:
        return None
    members = tuple(point for low, high in chars for point in (low, high))
    if len(members) == 2 and members[0] == members[1]:
        return pattern_tree.Literal(chr(members[0]), fold=False)
    if len(members) == 4 and members[0] == members[1] and members[2] == members[3]:
        members = (members[0], members[2])
    if len(members) == 2 and pattern_tree.orbit(members[0]) == members:
        return pattern_tree.Literal(chr(members[0]), fold=True)
    return None


def _count(digits: str) -> int:
    return int(digits) if len(digits) < 8 else MAX_REPEAT + 1


def _changed(flags: Flags, changes: dict[str, bool]) -> Flags:
    return Flags(
        changes.get("i", flags.fold),
        changes.get("m", flags.multiline),
        changes.get("s", flags.dot_all),
        changes.get("U", flags.swap_greed),
    )


def _flatten(nodes: list[pattern_tree.Node]) -> list[pattern_tree.Node]:
    flat: list[pattern_tree.Node] = []
    for node in nodes:
        flat.extend(node.subs if isinstance(node, pattern_tree.Concat) else (node,))
    return flat


def _join_literals(nodes: list[pattern_tree.Node]) -> list[pattern_tree.Node]:
    joined: list[pattern_tree.Node] = []
    run: list[str] = []
    fold = False
    for node in nodes:
        if isinstance(node, pattern_tree.Literal):
            if run and node.fold != fold:
                joined.append(pattern_tree.Literal("".join(run), fold))
                run = []
            run.append(node.text)
            fold = node.fold
            continue
        if run:
            joined.append(pattern_tree.Literal("".join(run), fold))
            run = []
        joined.append(node)
    if run:
        joined.append(pattern_tree.Literal("".join(run), fold))
    return joined
