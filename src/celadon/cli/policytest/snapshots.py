"""`--update`: what happened, written into test files as what is expected.

Only texts change: `snapshot` becomes the verdict with its message, and a message that is expected
word for word becomes the one that was given. Another verdict is no matter of wording, and stays a
failure. Comments and layout stay, since nothing but these values is written anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from celadon import private_files
from celadon.cli.fmt import Edit, edited
from celadon.cli.policytest.case_results import CaseResult, CaseVerdict, FileResult, How, PolicyTest
from celadon.cli.policytest.file_tests import is_policy_test
from celadon.cli.reading import documents
from celadon.cli.reading.json_text import Path as Steps

_SPEAKING: Final = frozenset(
    {CaseVerdict.DENY, CaseVerdict.WARN, CaseVerdict.AUDIT, CaseVerdict.ERROR}
)


def update(results: Sequence[FileResult], unwritten: dict[str, OSError]) -> int:
    """Write the files of these tests, and return how many expectations have changed. `unwritten`
    gets the files that cannot be written."""
    files: dict[str, list[CaseResult]] = {}
    for result in results:
        files.setdefault(result.file, []).extend(result.cases)
    updated = 0
    for file, cases in files.items():
        try:
            updated += _updated(file, cases)
        except OSError as error:
            unwritten[file] = error
    return updated


def _updated(file: str, cases: Sequence[CaseResult]) -> int:
    text = documents.read_text(file)
    if isinstance(text, documents.Problem):
        return 0
    edits: dict[int, Edit] = {}
    for document in documents.DocumentReader().read(text):
        if isinstance(document, documents.Problem) or not is_policy_test(document):
            continue
        first = documents.chunk_start(text, document)
        if first is not None:
            for item in _edits(document, cases):
                edit = Edit(item.start + first, item.end + first, item.text)
                edits.setdefault(edit.start, edit)
    content = edited(text.content, [edits[index] for index in sorted(edits)])
    path = Path(file)
    data = documents.encoded_like(content, path.read_bytes()) if edits else None
    if data is None:
        return 0
    private_files.replace_content(path, data)
    return len(edits)


def _edits(document: documents.Document, cases: Sequence[CaseResult]) -> Iterator[Edit]:
    lines = {document.line(("cases", i)): i for i in range(len(document.value["cases"]))}
    for case in cases:
        index = lines.get(case.case.place.line)
        if index is None or case.outcome is None:
            continue
        steps: Steps = ("cases", index, "expect")
        if case.case.expect.snapshot:
            yield _edit(document, steps, _snapshot(case, as_json=document.chunk.is_json))
        elif [mismatch.part for mismatch in case.mismatches] == ["message"]:
            message = case.case.expect.message
            if message is not None and message.how is How.IS:
                expect = document.value_at(steps)
                field = "message" if isinstance(expect, dict) and "message" in expect else ""
                place = (*steps, field or case.case.expect.verdict.value)
                yield _edit(document, place, _quoted(_message(case)))


def _edit(document: documents.Document, steps: Steps, text: str) -> Edit:
    start, end = document.chunk.span((*document.path, *steps))
    block = document.chunk.text[start:end].endswith("\n")
    return Edit(start, end, f"{text}\n" if block else text)


def _snapshot(case: CaseResult, *, as_json: bool) -> str:
    assert case.outcome is not None, "who has no outcome is not written down"
    verdict = case.outcome.verdict
    if verdict not in _SPEAKING or not _message(case):
        return _quoted(verdict.value) if as_json else verdict.value
    name = _quoted(verdict.value) if as_json else verdict.value
    return f"{{{name}: {_quoted(_message(case))}}}"


def _message(case: CaseResult) -> str:
    """Return the first message: that of the policy, or of an error that was ignored."""
    outcome = case.outcome
    if outcome is None:
        return ""
    result = (
        *(notice.message for notice in outcome.deciding),
        *(notice.message for notice in outcome.ignored),
    )
    return next(iter(result), "")


def _quoted(text: str) -> str:
    """Return the text as JSON, which is YAML as well."""
    return json.dumps(text, ensure_ascii=False)


# --- Changed files -----------------------------------------------------------
#
# `--watch`: which files have changed since they were looked at.

_Stamp = tuple[int, int]


class WatchedFiles:
    """The files of tests, and the folders that these are in: a new file is a change of its
    folder."""

    def __init__(self) -> None:
        self._stamps: dict[str, _Stamp] = {}

    def watch(self, tests: Iterable[PolicyTest], more: Iterable[str] = ()) -> None:
        """Look at the files of these tests from now on, as they are, and at `more`."""
        files = {file for test in tests for file in (test.file, *test.files)} | set(more)
        folders = {os.path.dirname(file) or os.curdir for file in files}
        self._stamps = {file: _stamp(file) for file in (*files, *folders)}

    def changed(self) -> set[str]:
        """Return the names that are not as they were."""
        return {file for file, stamp in self._stamps.items() if _stamp(file) != stamp}


def affected(tests: Iterable[PolicyTest], changed: set[str]) -> list[str]:
    """Return the files of the tests that have something to do with what changed."""
    result = [test.file for test in tests if changed.intersection((test.file, *test.files))]
    return list(dict.fromkeys(result))


def _stamp(file: str) -> _Stamp:
    try:
        stat = os.stat(file)
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size
