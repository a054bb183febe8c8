"""The rules about files rather than objects: CEL098 (layout) and CEL099 (comments that silence
nothing), and the comments themselves.

CEL099 speaks of a comment, or of one rule in its
brackets, if every rule that is meant was asked and none of them had anything to say there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.admission.lint import RULES, Rule, Severity
from celadon.cli.fmt import text_layout
from celadon.cli.lint.lint_report import LocatedFinding
from celadon.cli.reading.documents import Text
from celadon.kube import FieldPath, metadata
from celadon.patterns import late_pattern
from celadon.records import dataclass

# --- CEL098 ------------------------------------------------------------------
#
# CEL098: expressions that are not in the layout of `celadon fmt`.
#
# The one rule that is asked only by its name or its code: who does not use `celadon fmt` need not
# hear of it.

_BAD_LAYOUT: Final = """\
validations:
- expression: object.spec.replicas<=5&&object.spec.paused
"""
_GOOD_LAYOUT: Final = """\
validations:
- expression: object.spec.replicas <= 5 && object.spec.paused
"""

UNFORMATTED: Final = Rule(
    "CEL098",
    "unformatted",
    Severity.INFO,
    "An expression is not in the layout that `celadon fmt` gives it. This rule speaks only where "
    "it is selected by its name or its whole code.",
    _BAD_LAYOUT,
    _GOOD_LAYOUT,
    lambda _: (),  # it is about files
)


def is_asked(select: Sequence[str]) -> bool:
    """Return whether a selection of rules names it."""
    return UNFORMATTED.name in select or UNFORMATTED.code in select


def unformatted(text: Text, width: int, lines: Sequence[str]) -> Iterator[LocatedFinding]:
    """The expressions of a text that are not in their layout."""
    for one in text_layout(text, width).misplaced:
        line, column = one.document.chunk.spot((*one.document.path, *one.path))
        value = one.document.value
        yield LocatedFinding(
            UNFORMATTED.code,
            UNFORMATTED.name,
            UNFORMATTED.severity,
            text.file,
            line,
            column,
            FieldPath(*one.path).text,
            f"{value['kind']} {metadata.name(value)}".rstrip(),
            "this expression is not in its layout",
            "`celadon fmt` puts it there",
            line_text=lines[line - 1],
        )


# --- Comments ----------------------------------------------------------------
#
# Comments that silence findings.
#
#     # celadon: ignore[CEL025]              on the line of the finding or of its field, or above
#     // celadon: ignore[optional-field]     the same inside an expression of several lines
#     # celadon: ignore                      every rule
#     # celadon: ignore-file[CEL041]         anywhere: the whole file
#
# Rules go by their code, the beginning of it, or their name; several are separated by commas.

_COMMENT: Final = late_pattern(r"(?:#|//)\s*celadon:\s*ignore(-file)?(?![\w-])(?:\[([^\]]*)\])?")
_ONLY_COMMENT: Final = late_pattern(r"\s*(?:#|//)")


@dataclass(frozen=True, slots=True)
class Silenced:
    """This is what one comment silences; without names: everything. Line and column count from
    1."""

    line: int
    column: int
    names: tuple[str, ...]

    def covering(self, code: str, name: str) -> list[str]:
        """Return the words of its names that mean this rule; an empty one for everything."""
        return [one for one in self.names or ("",) if self.about(one, code, name)]

    @staticmethod
    def about(wanted: str, code: str, name: str) -> bool:
        """Return whether a name in a comment means this rule."""
        return code.startswith(wanted) or wanted == name


class Comments:
    """The comments of one file."""

    __slots__ = ("_lines", "_of_file", "_of_lines", "_used")

    def __init__(self, content: str) -> None:
        self._used: set[tuple[Silenced, str]] = set()
        self._lines: list[str] = []
        self._of_file: list[Silenced] = []
        self._of_lines: dict[int, list[Silenced]] = {}
        if "celadon:" not in content:
            return
        self._lines = content.split("\n")
        for number, line in enumerate(self._lines, 1):
            for found in _COMMENT.finditer(line):
                names = tuple(one.strip() for one in (found[2] or "").split(",") if one.strip())
                comment = Silenced(number, found.start() + 1, names)
                if found[1]:
                    self._of_file.append(comment)
                else:
                    self._of_lines.setdefault(number, []).append(comment)

    def all(self) -> Iterator[Silenced]:
        """Every comment of the file."""
        yield from self._of_file
        for comments in self._of_lines.values():
            yield from comments

    def silence(self, code: str, name: str, *lines: int) -> bool:
        """Return whether a finding of this rule on one of these lines (from 1) is not to be
        shown."""
        if not self._lines:
            return False
        comments = list(self._of_file)
        for line in lines:
            comments += self._of_lines.get(line, ())
            above = line - 1
            while above >= 1 and _ONLY_COMMENT.match(self._lines[above - 1]):
                comments += self._of_lines.get(above, ())
                above -= 1
        used = [(one, meant) for one in comments for meant in one.covering(code, name)]
        self._used.update(used)
        return bool(used)

    def unused(self) -> Iterator[tuple[Silenced, str]]:
        """The comments, and which of their names, that have silenced nothing so far."""
        for comment in self.all():
            for name in comment.names or ("",):
                if (comment, name) not in self._used:
                    yield comment, name


# --- CEL099 ------------------------------------------------------------------

_BAD: Final = """\
validations:
- expression: object.spec.replicas <= 5  # celadon: ignore[CEL025]
"""
_GOOD: Final = """\
validations:
- expression: object.spec.replicas <= 5
"""

UNUSED_COMMENT: Final = Rule(
    "CEL099",
    "unused-comment",
    Severity.WARNING,
    "A comment silences a rule that has nothing to say there: what it was about has been put "
    "right, or it stands on the wrong line. It would hide the next mistake.",
    _BAD,
    _GOOD,
    lambda _: (),  # it is not about objects
)

EVERY_RULE: Final = (*RULES, UNFORMATTED, UNUSED_COMMENT)
"""All rules that users can name."""


def unused_comments(
    file: str, comments: Comments, lines: Sequence[str], asked: Sequence[Rule]
) -> Iterator[LocatedFinding]:
    """To be asked when all findings have been looked at; nothing if the rule was not chosen."""
    if UNUSED_COMMENT not in asked:
        return
    for comment, name in comments.unused():
        meant = [rule for rule in RULES if comment.about(name, rule.code, rule.name)]
        if not meant or any(rule not in asked for rule in meant):
            continue
        what = f"`{name}`" if name else "anything"
        yield LocatedFinding(
            UNUSED_COMMENT.code,
            UNUSED_COMMENT.name,
            UNUSED_COMMENT.severity,
            file,
            comment.line,
            comment.column,
            "",
            "comment",
            f"there is no finding of {what} that this comment could silence",
            "take it away",
            line_text=lines[comment.line - 1],
        )
