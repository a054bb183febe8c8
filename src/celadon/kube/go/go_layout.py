"""How github.com/google/go-cmp lays its reports out: what fits stays on one line, the rest has
a line for each part, and keys and comments stand below each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import groupby
from typing import Final

from celadon.records import dataclass


@dataclass(slots=True)
class Stats:
    """How many of something are left out."""

    name: str
    identical: int = 0
    removed: int = 0
    inserted: int = 0
    modified: int = 0

    @property
    def differing(self) -> int:
        return self.removed + self.inserted + self.modified

    def added(self, other: Stats) -> Stats:
        """Return both together."""
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
    """Says that some are left out, and which."""
    lines.append(Line(ELLIPSIS, comment=str(stats) if stats else "", comma=False))


def size_of(layout: Layout) -> int:
    """The bytes of it in one line."""
    if isinstance(layout, str):
        return len(layout.encode(errors="replace"))
    if isinstance(layout, Wrapped):
        return len(layout.prefix) + size_of(layout.value) + len(layout.suffix)
    of_keys = sum(len(line.key) + 2 for line in layout if line.key)
    return of_keys + sum(size_of(line.value) for line in layout) + 2 * max(0, len(layout) - 1)


_WIDTH: Final = 80


def laid_out(layout: Layout) -> str:
    """The text, on as few lines as go-cmp needs."""
    return _expanded(_compact(layout, "")[1], "", 0)


def _compact(layout: Layout, mark: str) -> tuple[str, Layout]:
    """It as one line, and what becomes of it: that line, where it may be one."""
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
        here = mark or line.mark
        named = f"{line.key}: " if line.key else ""
        value = _expanded(line.value, here, depth + 1)
        comma = "," if line.comma else ""
        comment = f" // {line.comment}" if line.comment else ""
        texts.append(
            f"\n{_indent(here, depth + 1)}{named}{'':{of_key}}{value}{comma}"
            f"{'':{of_value}}{comment}"
        )
    return "".join(texts) + end


def _is_simple(line: Line) -> bool:
    return isinstance(line.value, str) and not (line.mark or line.key or line.comment)


def _batches(texts: Iterable[str]) -> Iterator[str]:
    """Several on a line; commas behind each but, without a space, the last of a line."""
    batch = ""
    for text in texts:
        if batch and len(f"{batch}{text}, ".encode(errors="replace")) > _WIDTH:
            yield batch.rstrip(" ")
            batch = ""
        batch += f"{text}, "
    if batch:
        yield batch.rstrip(" ")


def _aligned(
    lines: Sequence[Line], counts: Callable[[Line], bool], of: Callable[[Line], str]
) -> list[int]:
    """Spaces behind each, so that those in a row that stay on their line end alike."""
    spaces: list[int] = []
    for counted, run in groupby(lines, lambda one: counts(one) and isinstance(one.value, str)):
        sizes = [len(of(one)) if counted else 0 for one in run]
        spaces += [max(sizes) - size for size in sizes]
    return spaces


def _indent(mark: str, depth: int) -> str:
    return f"{mark or ' '} " + "\t" * depth
