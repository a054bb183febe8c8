"""Reports the difference of two values as github.com/google/go-cmp does.

`cmp.Diff` compares both as trees and prints the tree with a few of the equal parts around each
change. How it prints is unstable by design: a server chooses one of two ways when it starts. Here
it is the first, with plain spaces. Which parts differ is found in `go_values`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import groupby
from typing import Any, Final

from celadon.kube.go.go_text import quote
from celadon.kube.go.go_values import Comparison, Edit, GoData, Kind, Steps, TooLongError
from celadon.records import dataclass

# --- Layout ------------------------------------------------------------------
#
# How github.com/google/go-cmp lays its reports out: what fits stays on one line, the rest has
# a line for each part, and keys and comments stand below each other.


@dataclass(slots=True)
class Stats:
    """Counts of what a report leaves out."""

    name: str
    identical: int = 0
    removed: int = 0
    inserted: int = 0
    modified: int = 0

    @property
    def differing(self) -> int:
        return self.removed + self.inserted + self.modified

    def added(self, other: Stats) -> Stats:
        """Return the counts of both together."""
        return Stats(
            self.name,
            self.identical + other.identical,
            self.removed + other.removed,
            self.inserted + other.inserted,
            self.modified + other.modified,
        )

    def __str__(self) -> str:
        counts = {
            "identical": self.identical,
            "removed": self.removed,
            "inserted": self.inserted,
            "modified": self.modified,
        }
        parts = [f"{count} {label}" for label, count in counts.items() if count]
        name = self.name
        if sum(counts.values()) > 1:
            name = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
        if len(parts) > 2:
            return f"{', '.join(parts[:-1])}, and {parts[-1]} {name}"
        return f"{' and '.join(parts)} {name}"


@dataclass(slots=True)
class Line:
    """A line, or several: `mark` is `-` or `+` for what is gone or new."""

    value: Layout
    key: str = ""
    mark: str = ""
    comment: str = ""
    comma: bool = field(default=True, compare=False)


@dataclass(slots=True)
class Wrapped:
    """Something between a prefix and a suffix."""

    prefix: str
    value: Layout
    suffix: str = ""


Layout = str | Wrapped | list[Line]
"""What is to be laid out: a text that stays on its line, or more."""

NIL: Final = "nil"
ELLIPSIS: Final = "..."


def leave_out(lines: list[Line], stats: Stats | None = None) -> None:
    """Add a line which says that lines are left out, and which."""
    lines.append(Line(ELLIPSIS, comment=str(stats) if stats else "", comma=False))


def size_of(layout: Layout) -> int:
    """Return how many bytes the layout takes in one line."""
    if isinstance(layout, str):
        return len(layout.encode(errors="replace"))
    if isinstance(layout, Wrapped):
        return len(layout.prefix) + size_of(layout.value) + len(layout.suffix)
    of_keys = sum(len(line.key) + 2 for line in layout if line.key)
    return of_keys + sum(size_of(line.value) for line in layout) + 2 * max(0, len(layout) - 1)


_WIDTH: Final = 80


def laid_out(layout: Layout) -> str:
    """Return the text, on as few lines as go-cmp needs."""
    return _expanded(_compact(layout, "")[1], "", 0)


def _compact(layout: Layout, mark: str) -> tuple[str, Layout]:
    """Return a text as one line, and what becomes of it: that line, where it may be one."""
    if isinstance(layout, str):
        return layout, layout
    if isinstance(layout, Wrapped):
        text, value = _compact(layout.value, mark)
        text = f"{layout.prefix}{text}{layout.suffix}"
        if isinstance(value, str):
            return text, text
        return text, Wrapped(layout.prefix, value, layout.suffix)
    lines, texts = [], []
    stays = True
    for line in layout:
        text, value = _compact(line.value, mark or line.mark)
        texts.append(f"{line.key}: {text}" if line.key else text)
        stays = stays and isinstance(value, str) and not line.mark and not line.comment
        lines.append(Line(value, line.key, line.mark, line.comment, line.comma))
    whole = ", ".join(texts)
    if mark and len(whole.encode(errors="replace")) > _WIDTH:
        stays = False
    return whole, whole if stays else lines


def _expanded(layout: Layout, mark: str, depth: int) -> str:
    if isinstance(layout, str):
        return layout
    if isinstance(layout, Wrapped):
        return f"{layout.prefix}{_expanded(layout.value, mark, depth)}{layout.suffix}"
    end = f"\n{_indent(mark, depth)}"
    if layout and all(_is_simple(line) for line in layout):
        batches = _batches([str(line.value) for line in layout])
        return "".join(f"\n{_indent(mark, depth + 1)}{batch}" for batch in batches) + end
    keys = _aligned(layout, lambda line: bool(line.key), lambda line: line.key)
    values = _aligned(
        layout,
        lambda line: line.value != ELLIPSIS and bool(line.comment),
        lambda line: str(line.value),
    )
    texts = []
    for line, of_key, of_value in zip(layout, keys, values, strict=True):
        line_mark = mark or line.mark
        named = f"{line.key}: " if line.key else ""
        value = _expanded(line.value, line_mark, depth + 1)
        comma = "," if line.comma else ""
        comment = f" // {line.comment}" if line.comment else ""
        texts.append(
            f"\n{_indent(line_mark, depth + 1)}{named}{'':{of_key}}{value}{comma}"
            f"{'':{of_value}}{comment}"
        )
    return "".join(texts) + end


def _is_simple(line: Line) -> bool:
    return isinstance(line.value, str) and not (line.mark or line.key or line.comment)


def _batches(texts: Iterable[str]) -> Iterator[str]:
    """Yield items, several on a line; commas stand behind each but, without a space, the last of a
    line."""
    batch = ""
    for text in texts:
        if batch and len(f"{batch}{text}, ".encode(errors="replace")) > _WIDTH:
            yield batch.rstrip(" ")
            batch = ""
        batch += f"{text}, "
    if batch:
        yield batch.rstrip(" ")


def _aligned(
    lines: Sequence[Line], counts: Callable[[Line], bool], text_of: Callable[[Line], str]
) -> list[int]:
    """Spaces behind each, so that those in a row that stay on their line end alike."""
    spaces: list[int] = []
    for counted, run in groupby(lines, lambda line: counts(line) and isinstance(line.value, str)):
        sizes = [len(text_of(line)) if counted else 0 for line in run]
        spaces += [max(sizes) - size for size in sizes]
    return spaces


def _indent(mark: str, depth: int) -> str:
    return f"{mark or ' '} " + "\t" * depth


MOST_STEPS: Final = 20_000
"""Comparisons for one report; what takes more has none."""


def reported_difference(old: GoData, new: GoData) -> str:
    """Return what `cmp.Diff` gives; empty when nothing differs, or when it would take long."""
    steps = Steps(MOST_STEPS)
    try:
        comparison = steps.compared(old, new)
        return f"  {laid_out(_Printer(steps).of(comparison))}\n" if comparison.differs else ""
    except TooLongError:
        return ""


class _Side(enum.Enum):
    """The value of two that is printed."""

    BOTH = "both"
    EQUAL = "equal"
    OLD = "-"
    NEW = "+"


class _Types(enum.Enum):
    """When the name of a type is printed."""

    ALWAYS = "always"
    NEVER = "never"
    OF_PARTS = "of parts"
    """For structs, lists and maps."""


_AROUND: Final = 2
"""Equal records that are shown on each side of a change."""
_LONG: Final = 32
"""Texts of so many bytes are compared part by part."""
_MULTILINE: Final = 4
"""Lines that make a text one of several."""
_LONGEST_LINE: Final = 1024
_BYTES: Final = 64
_NUMBERS: Final = 8
"""How many stand in one line."""


@dataclass(frozen=True, slots=True)
class _Printer:
    """Turns values into lines: `room` halves with each level, what does not fit is left out."""

    steps: Steps
    side: _Side = _Side.BOTH
    types: _Types = _Types.ALWAYS
    room: int = 0

    def of(self, comparison: Comparison) -> Layout:
        """Return the lines for a comparison: `FormatDiff`."""
        if self.side is _Side.EQUAL:
            printer = replace(self, room=1)
        else:
            printer = replace(self, room=max(self.room, 3))
        if printer._is_compared_by_parts(comparison):
            return printer._by_parts(comparison)
        if not comparison.depth:
            return printer._leaf(comparison)
        if comparison.inner is not None:
            return Wrapped("&", printer.of(comparison.inner))
        return printer._typed(comparison.either, printer._members(comparison))

    def _leaf(self, comparison: Comparison) -> Layout:
        old, new = comparison.old, comparison.new
        if self.side is _Side.OLD or self.side is _Side.NEW:
            go_data = old if self.side is _Side.OLD else new
            assert go_data is not None, "what is not there is not printed"
            return self.value(go_data)
        if not comparison.differs and old is not None and new is not None:
            before, after = self.value(old), self.value(new)
            return before if size_of(before) < size_of(after) else after
        bare = replace(self, types=_Types.NEVER)
        marked = [("-", old), ("+", new)]
        lines = [Line(bare.value(item), mark=mark) for mark, item in marked if item is not None]
        return replace(self, types=_Types.ALWAYS)._typed(comparison.either, lines)

    def _typed(self, value: GoData, layout: Layout) -> Layout:
        """`FormatType`: with the name of the type before it, where that is wanted."""
        if self.types is _Types.NEVER:
            return layout
        if self.types is _Types.OF_PARTS and (
            value.kind not in (Kind.STRUCT, Kind.LIST, Kind.MAP)
            or layout == NIL
            or self.side is _Side.EQUAL
        ):
            return layout
        name = f"({value.type})" if value.kind is Kind.POINTER else value.type
        if isinstance(layout, Wrapped) and layout.prefix[:1] + layout.suffix[-1:] in ("()", "{}"):
            return Wrapped(name, layout)
        return Wrapped(name, Wrapped("(", layout, ")"))

    # --- values ---

    def value(self, value: GoData) -> Layout:
        """Return the lines for one value: `FormatValue`."""
        if value.string is not None and not value.is_nil:
            return self._quoted("s", value.string)
        match value.kind:
            case Kind.PLAIN:
                return value.text
            case Kind.TEXT:
                return self._quoted("", value.text)
            case Kind.POINTER:
                return NIL if value.target is None else Wrapped("&", self.value(value.target))
        if value.members is None:
            return NIL
        return self._typed(value, Wrapped("{", self._values(value), "}"))

    def _values(self, value: GoData) -> list[Line]:
        is_struct = value.kind is Kind.STRUCT
        inner = _Types.OF_PARTS if is_struct else _Types.NEVER
        below = replace(self, types=inner, room=self.room - 1)
        lines: list[Line] = []
        members = value.members or {}
        for name, member in sorted(members.items()) if value.kind is Kind.MAP else members.items():
            if is_struct and member.is_zero:
                continue
            if len(lines) == _equal_limit(self.room):
                leave_out(lines)
                break
            lines.append(Line(below.value(member), key=_key(value, name)))
        return lines

    def _quoted(self, prefix: str, text: str) -> Layout:
        """`formatString`: in quotes; over several lines what has four or more and is gone or new,
        and cut when there is no room."""
        data = text.encode(errors="replace")
        most = _LONG << _level(self.room)
        text_lines = text.removesuffix("\n").split("\n")
        if len(text_lines) >= _MULTILINE and self.side in (_Side.OLD, _Side.NEW):
            bare = [line.removesuffix("\r").removeprefix("\r") for line in text_lines]
            if all(_is_shown_bare(line, prefix, most) for line in bare):
                return self._multiline(prefix, bare)
        if len(data) > most + len(ELLIPSIS):
            return f"{prefix}{_in_quotes(data[:most])}{ELLIPSIS}"
        return f"{prefix}{_in_quotes(data)}"

    def _multiline(self, prefix: str, texts: Sequence[str]) -> Layout:
        mark = self.side.value
        most = _MULTILINE << _level(self.room)
        lines = [Line(f'{prefix}"""', mark=mark, comma=False)]
        for index, text in enumerate(texts):
            left = len(texts) - index
            if index == most - 1 and left > 1:
                comment = f"{left} elided lines"
                lines.append(Line(ELLIPSIS, mark=mark, comment=comment, comma=False))
                break
            lines.append(Line(text, mark=mark, comma=False))
        lines.append(Line(f'{prefix}"""', mark=mark, comma=False))
        return Wrapped("(", lines, ")")

    # --- members ---

    def _members(self, comparison: Comparison) -> Layout:
        """`formatDiffList`: the fields of a struct, items of a list or entries of a map."""
        is_struct = comparison.either.kind is Kind.STRUCT
        below = replace(
            self, types=_Types.OF_PARTS if is_struct else _Types.NEVER, room=self.room - 1
        )
        if self.side is _Side.BOTH:
            return Wrapped("{", below._changed_members(comparison, 2 << _level(self.room)), "}")
        limit = _equal_limit(self.room) if self.side is _Side.EQUAL else 2 << _level(self.room)
        lines: list[Line] = []
        for key, entry in comparison.entries:
            if len(lines) == limit:
                leave_out(lines)
                break
            if (is_struct and self._is_left_out(entry)) or self._is_absent(entry):
                continue
            lines.append(Line(below.of(entry), key=_key(comparison.either, key)))
        return Wrapped("{", lines, "}")

    def _is_left_out(self, comparison: Comparison) -> bool:
        old, new = comparison.old, comparison.new
        zeros = [go_data is not None and go_data.is_zero for go_data in (old, new)]
        if self.side is _Side.EQUAL:
            return any(zeros)
        return zeros[self.side is _Side.NEW]

    def _is_absent(self, comparison: Comparison) -> bool:
        """Tell whether only the other side has it: an item of a list, or an entry of a map."""
        sides = {_Side.OLD: comparison.old, _Side.NEW: comparison.new}
        return sides.get(self.side, comparison.either) is None

    def _changed_members(self, comparison: Comparison, limit: int) -> list[Line]:
        """Return the members that differ, with some equal ones around them."""
        groups = [
            (differ, [*group])
            for differ, group in groupby(comparison.entries, lambda entry: bool(entry[1].differs))
        ]
        lines: list[Line] = []
        shown_count = 0
        rest = Stats(_RECORDS[comparison.either.kind])
        for index, (differ, group) in enumerate(groups):
            if shown_count >= limit:
                rest = rest.added(_counted(rest.name, group))
            elif differ:
                for key, item in group:
                    lines += self._changed(_key(comparison.either, key), item)
                shown_count += len(group)
            else:
                low = _AROUND if index else 0
                high = _AROUND if index < len(groups) - 1 else 0
                lines += self._equal(comparison.either, group, low, high)
        if rest.identical or rest.differing:
            leave_out(lines, rest)
        return lines

    def _equal(
        self, type_: GoData, group: Sequence[tuple[str, Comparison]], low: int, high: int
    ) -> Iterator[Line]:
        low = min(low, len(group))
        high = min(high, len(group) - low)
        high += len(group) - low - high == 1
        printer = replace(self, side=_Side.EQUAL)
        for key, comparison in group[:low]:
            yield Line(printer.of(comparison), key=_key(type_, key))
        if len(group) > low + high:
            stats = Stats(_RECORDS[type_.kind], identical=len(group) - low - high)
            yield Line(ELLIPSIS, comment=str(stats), comma=False)
        for key, comparison in group[len(group) - high :]:
            yield Line(printer.of(comparison), key=_key(type_, key))

    def _changed(self, key: str, comparison: Comparison) -> Iterator[Line]:
        if self._is_compared_by_parts(comparison):
            yield Line(self._by_parts(comparison), key=key)
        elif (
            comparison.descendants == comparison.depth
        ):  # a value, or what pointers in a row point to
            for side, go_data in ((_Side.OLD, comparison.old), (_Side.NEW, comparison.new)):
                if go_data is not None:
                    yield Line(replace(self, side=side).of(comparison), key=key, mark=side.value)
        else:
            yield Line(self.of(comparison), key=key)

    # --- texts and numbers, part by part ---

    def _is_compared_by_parts(self, comparison: Comparison) -> bool:
        """`CanFormatDiffSlice`: long texts, and lists of numbers."""
        old, new = comparison.old, comparison.new
        if self.side is not _Side.BOTH or not comparison.differs or old is None or new is None:
            return False
        if old.kind is Kind.TEXT:
            sizes = [len(go_data.text.encode(errors="replace")) for go_data in (old, new)]
            return min(sizes) >= _LONG
        if old.kind is not Kind.LIST or not old.members or not new.members:
            return False
        if next(iter(old.members.values())).kind is not Kind.PLAIN:
            return False
        return (
            comparison.differs > comparison.same or min(len(old.members), len(new.members)) >= _LONG
        )

    def _by_parts(self, comparison: Comparison) -> Layout:
        old, new = comparison.old, comparison.new
        assert old is not None, "both are there"
        assert new is not None, "both are there"
        if old.kind is Kind.LIST:
            return self._numbers(old, new)
        before, after = (go_data.text.encode(errors="replace") for go_data in (old, new))
        if self._is_of_lines(old.text, new.text):
            return self._text_lines(old.text.split("\n"), new.text.split("\n"))

        def quoted(part: Sequence[Any], mark: str) -> Line:
            return Line(_in_quotes(bytes(part)), mark=mark)

        lines = self._parts(before, after, _BYTES, "byte", quoted)
        return Wrapped("strings.Join(", Wrapped("{", lines, "}"), ', "")')

    def _is_of_lines(self, old: str, new: str) -> bool:
        """Return whether texts are compared line by line: those of four lines or more, unless that
        tells much less than comparing bytes."""
        both = old + new
        if both.count("\n") < _MULTILINE or not all(
            char.isprintable() or char.isspace() for char in both
        ):
            return False
        if max(map(len, both.split("\n")[:-1])) > _LONGEST_LINE:
            return False
        of_lines = self.steps.edits(old.split("\n"), new.split("\n"))
        of_bytes = self.steps.edits(old.encode(errors="replace"), new.encode(errors="replace"))
        lines, parts = (
            sum(edit is not Edit.SAME for edit in edits) / len(edits)
            for edits in (of_lines, of_bytes)
        )
        return lines < 4 * parts or len(quote(both)) > 1.1 * len(both)

    def _text_lines(self, before: Sequence[str], after: Sequence[str]) -> Layout:
        def quoted(part: Sequence[Any], mark: str) -> Line:
            return Line(_in_quotes(part[0].encode(errors="replace")), mark=mark)

        def bare(part: Sequence[Any], mark: str) -> Line:
            return Line(part[0].removesuffix("\r").removeprefix("\r"), mark=mark, comma=False)

        lines = self._parts(before, after, 1, "line", bare)
        if not _are_told_apart(lines):
            lines = self._parts(before, after, 1, "line", quoted)
            return Wrapped("strings.Join(", Wrapped("{", lines, "}"), ', "\\n")')
        if lines[-1] == Line(""):
            del lines[-1]
        quotes = Line('"""', comma=False)
        return Wrapped("(", [quotes, *lines, quotes], ")")

    def _numbers(self, old: GoData, new: GoData) -> Layout:
        before, after = (
            [member.text for member in (side.members or {}).values()] for side in (old, new)
        )
        name = old.type.removeprefix("[]")

        def listed(part: Sequence[Any], mark: str) -> Line:
            return Line(", ".join(part), mark=mark)

        lines = self._parts(before, after, _NUMBERS, name, listed)
        return self._typed(old, Wrapped("{", lines, "}"))

    def _parts(
        self,
        old: Sequence[Any],
        new: Sequence[Any],
        chunk: int,
        name: str,
        line: Callable[[Sequence[Any], str], Line],
    ) -> list[Line]:
        """`formatDiffSlice`: chunks of both, with some of what is equal around what is not."""

        def chunks(part: Sequence[Any], mark: str) -> list[Line]:
            return [
                line(part[position : position + chunk], mark)
                for position in range(0, len(part), chunk)
            ]

        groups = _grouped(name, self.steps.edits(old, new), chunk)
        groups = _with_equal_ends(groups, old, new)
        limit = 4 << _level(self.room)
        lines: list[Line] = []
        shown_count, x, y = 0, 0, 0
        rest = Stats(name)
        for index, group in enumerate(groups):
            if shown_count >= limit:
                rest = rest.added(group)
                continue
            if not group.differing:
                part = old[x : x + group.identical]
                low = min(chunk * _AROUND, len(part)) if index else 0
                high = min(chunk * _AROUND, len(part) - low) if index < len(groups) - 1 else 0
                if len(part) - low - high <= chunk:
                    high = len(part) - low
                lines += chunks(part[:low], "")
                if len(part) > low + high:
                    leave_out(lines, Stats(name, identical=len(part) - low - high))
                lines += chunks(part[len(part) - high :], "")
                x, y = x + len(part), y + len(part)
                continue
            of_old = group.identical + group.removed + group.modified
            of_new = group.identical + group.inserted + group.modified
            result = [*chunks(old[x : x + of_old], "-"), *chunks(new[y : y + of_new], "+")]
            lines += result
            shown_count += len(result)
            x, y = x + of_old, y + of_new
        if rest.identical or rest.differing:
            leave_out(lines, rest)
        return lines


_RECORDS: Final = {Kind.STRUCT: "field", Kind.LIST: "element", Kind.MAP: "entry"}


def _level(room: int) -> int:
    return max(0, min(room, 16))


def _equal_limit(room: int) -> int:
    """Return how many members are shown of an equal value, or of one that is gone or new as a
    whole."""
    return (1 << _level(room) >> 1) << 2


def _key(value: GoData, name: str) -> str:
    if value.kind is not Kind.MAP:
        return name if value.kind is Kind.STRUCT else ""
    return f"{'s' if value.names_keys else ''}{_in_quotes(name.encode(errors='replace'))}"


def _counted(name: str, group: Sequence[tuple[str, Comparison]]) -> Stats:
    stats = Stats(name)
    for _, comparison in group:
        if not comparison.differs:
            stats.identical += 1
        elif comparison.new is None:
            stats.removed += 1
        elif comparison.old is None:
            stats.inserted += 1
        else:
            stats.modified += 1
    return stats


def _in_quotes(data: bytes) -> str:
    """Return the text in double quotes, or in backticks where that saves escapes."""
    text = data.decode(errors="surrogateescape")
    quoted = quote(text)
    if len(quoted.encode(errors="replace")) == len(data) + 2:
        return quoted
    if all(char == "\t" or (char.isprintable() and char != "`") for char in text):
        return f"`{text}`"
    return quoted


def _is_shown_bare(line: str, prefix: str, most: int) -> bool:
    """Return whether a line can stand between triple quotes."""
    if line.removeprefix(prefix).startswith('"""') or line.startswith(ELLIPSIS):
        return False
    fits = len(line.encode(errors="replace")) <= most
    return fits and all(text == "\t" or text.isprintable() for text in line)


def _are_told_apart(lines: Sequence[Line]) -> bool:
    """Return whether lines can stand between triple quotes: no two next to each other, one gone and
    one new, differ by white space alone."""
    seen: dict[str, set[str]] = {"-": set(), "+": set()}
    for line in lines:
        text = str(line.value)
        if line.comment and text == ELLIPSIS:
            seen = {"-": set(), "+": set()}
            continue
        if not _is_shown_bare(text, "", len(text.encode(errors="replace"))):
            return False
        if not line.mark:
            seen = {"-": set(), "+": set()}
            continue
        plain = "".join(text.split())
        if plain in seen["+" if line.mark == "-" else "-"]:
            return False
        seen[line.mark].add(plain)
    return True


def _grouped(name: str, all_edits: Sequence[Edit], chunk: int) -> list[Stats]:
    """Return runs of equal and of different parts. A short equal run between two others belongs to
    them, but for what is equal at their ends."""
    groups: list[Stats] = []
    for same, run in groupby(all_edits, lambda edit: edit is Edit.SAME):
        edits = [*run]
        group = Stats(
            name,
            identical=len(edits) if same else 0,
            removed=edits.count(Edit.REMOVED),
            inserted=edits.count(Edit.ADDED),
            modified=edits.count(Edit.CHANGED),
        )
        if len(groups) > 1 and not same and _is_joined(groups[-2], groups[-1], group, chunk // 4):
            groups[-2:] = [groups[-2].added(groups[-1]).added(group)]
        else:
            groups.append(group)
    return groups


def _is_joined(before: Stats, between: Stats, after: Stats, window: int) -> bool:
    loses = before.removed or after.removed
    gains = before.inserted or after.inserted
    return bool(loses and gains) and between.identical <= window


def _with_equal_ends(
    groups: list[Stats], old: Sequence[object], new: Sequence[object]
) -> list[Stats]:
    """Return the groups with the equal ends of runs of different parts moved to the runs around
    them."""
    first, last = Stats(groups[0].name), Stats(groups[0].name)
    x = y = 0
    for position, group in enumerate(groups):
        if not group.differing:
            x, y = x + group.identical, y + group.identical
            continue
        of_old = group.identical + group.removed + group.modified
        of_new = group.identical + group.inserted + group.modified
        least = min(of_old, of_new)
        old_part, new_part = old[x : x + of_old], new[y : y + of_new]
        low = next((index for index in range(least) if old_part[index] != new_part[index]), least)
        high = next(
            (index for index in range(least) if old_part[~index] != new_part[~index]), least
        )
        if low:
            (groups[position - 1] if position else first).identical += low
            x, y = x + low, y + low
        if high:
            (groups[position + 1] if position + 1 < len(groups) else last).identical += high
        if low or high:
            of_old, of_new = of_old - low - high, of_new - low - high
            groups[position] = Stats(group.name, removed=of_old, inserted=of_new)
        x, y = x + of_old, y + of_new
    return [*([first] if first.identical else ()), *groups, *([last] if last.identical else ())]
