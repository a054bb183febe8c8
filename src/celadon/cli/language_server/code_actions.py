"""What can be done about findings: the safe fixes of the linter, and comments that silence them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from celadon.cli.language_server.text_positions import Position, Span
from celadon.cli.language_server.workspace_files import Diagnosis, EditedFile, TextEdit
from celadon.cli.linting.fixing import fix_edit
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class CodeAction:
    """`is_fix`: it puts something right, and does not only hide it."""

    title: str
    diagnosis: Diagnosis
    edit: TextEdit
    is_fix: bool


def code_actions(file: EditedFile, diagnoses: Sequence[Diagnosis], span: Span) -> list[CodeAction]:
    """Those for the findings that a span touches."""
    found: list[CodeAction] = []
    for one in diagnoses:
        if one.span.start <= span.end and span.start <= one.span.end:
            found += [*_fix(file, one), *_silence(file, one)]
    return found


def _fix(file: EditedFile, diagnosis: Diagnosis) -> Iterator[CodeAction]:
    finding = None if diagnosis.shown is None else diagnosis.shown.finding
    if finding is None or diagnosis.document is None:
        return
    made = fix_edit(file.text, diagnosis.document, finding)
    if made is not None:
        edit = TextEdit(file.text.file, file.lines.span(made.start, made.end), made.text)
        what = f"replace it with `{made.text}`" if made.text else "take it out"
        yield CodeAction(f"{diagnosis.code}: {what}", diagnosis, edit, is_fix=True)


def _silence(file: EditedFile, diagnosis: Diagnosis) -> Iterator[CodeAction]:
    """A comment above the field that the finding is in."""
    if diagnosis.document is None or diagnosis.shown is None or diagnosis.document.chunk.is_json:
        return
    finding = diagnosis.shown.finding
    path = () if finding is None else finding.spot.path.steps
    line = diagnosis.document.line(path) - 1
    text = file.lines.line(line)
    indent = text[: len(text) - len(text.lstrip())]
    start = Position(line, 0)
    comment = f"{indent}# celadon: ignore[{diagnosis.code}]\n"
    edit = TextEdit(file.text.file, Span(start, start), comment)
    title = f"{diagnosis.code}: silence it here"
    yield CodeAction(title, diagnosis, edit, is_fix=False)
