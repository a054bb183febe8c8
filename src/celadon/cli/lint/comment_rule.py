"""CEL099: comments that silence nothing.

The one rule about files rather than objects. It speaks of a comment, or of one rule in its
brackets, if every rule that is meant was asked and none of them had anything to say there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from celadon.admission.lint import RULES, Rule, Severity
from celadon.cli.lint.layout_rule import UNFORMATTED
from celadon.cli.lint.lint_comments import Comments
from celadon.cli.lint.lint_report import LocatedFinding

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
