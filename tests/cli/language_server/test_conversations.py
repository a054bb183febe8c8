"""Whole conversations with the language server, in this process.

A file of `tests/cases/lsp` holds files, then `> method {params}` for each message of an editor, and
below what the server says to it. In params, `"@text"` is the place behind the first such text of
the first file. `pytest --update-golden` writes the answers anew, to be read like code.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon import __version__
from celadon.cli.language_server import lsp_adapter
from tests.paths import ROOT

FILES = sorted((ROOT / "tests" / "cases" / "lsp").glob("*.txt"))
MOST_ITEMS = 3


class _Output(io.BytesIO):
    """Can be read when it is closed."""

    sent = b""

    def close(self) -> None:
        self.sent = self.getvalue()


def _place(text: str, before: str) -> dict[str, int]:
    head = text[: text.index(before) + len(before)]
    last = head.rpartition("\n")[2]
    return {"line": head.count("\n"), "character": len(last.encode("utf-16-le")) // 2}


def _filled(value: Any, text: str, uri: str) -> Any:
    """Params with places, and with the document that they are about."""
    if isinstance(value, dict):
        return {key: _filled(member, text, uri) for key, member in value.items()}
    if isinstance(value, list):
        return [_filled(item, text, uri) for item in value]
    if isinstance(value, str) and value.startswith("@"):
        return _place(text, value[1:])
    if isinstance(value, str):
        return value.replace("POLICY", uri).replace("FOLDER", uri.rpartition("/")[0])
    return value


def _message(**fields: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _answers(sent: bytes) -> Iterator[dict[str, Any]]:
    for body in re.split(rb"Content-Length: \d+\r\n(?:Content-Type: [^\r]+\r\n)?\r\n", sent):
        if body:
            yield json.loads(body)


def _brief(value: Any) -> Any:
    """Long lists are shown by their beginning; of what else is offered, labels and kinds."""
    if isinstance(value, dict):
        return {key: _brief(member) for key, member in value.items()}
    if isinstance(value, list):
        if len(value) <= 2 * MOST_ITEMS:
            return [_brief(item) for item in value]
        others = (
            f"{item.get('label')} {item.get('kind')}" if "label" in item else str(item)
            for item in value[MOST_ITEMS:]
        )
        return [*map(_brief, value[:MOST_ITEMS]), ", ".join(others)]
    return value


def _shown(answer: dict[str, Any], number: int) -> str:
    if answer.get("id") == number:
        said = json.dumps(_brief(answer.get("result", answer.get("error"))), ensure_ascii=False)
        return f"  {said}\n"
    params = json.dumps(_brief(answer["params"]), ensure_ascii=False)
    return f"  {answer['method']} {params}\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_conversation(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    # Only what is asked for brings out what is wrong: when the server has a pause is not known.
    monkeypatch.setattr(lsp_adapter, "PAUSE", 3600)
    expected = path.read_text(encoding="utf-8")
    files, _, rest = expected.partition("\n>>>\n")
    parts = re.split(r"^--- (.*)\n", files, flags=re.MULTILINE)
    for name, content in zip(parts[1::2], parts[2::2], strict=True):
        (tmp_path / name).write_text(content, encoding="utf-8")
    text, uri = parts[2], (tmp_path / parts[1]).as_uri()
    lines = [line for line in rest.splitlines() if line.startswith("> ")]
    # The messages of before are sent again each time, so that each answer is known to be of one.
    messages = [
        _message(
            id=0,
            method="initialize",
            params={"capabilities": {}, "rootUri": tmp_path.as_uri(), "processId": None},
        )
    ]
    for number, line in enumerate(lines, 1):
        _, method, params = line.split(" ", 2)
        values = _filled(json.loads(params), text, uri)
        is_notice = method.startswith(("textDocument/did", "workspace/did")) or method in (
            "initialized",
            "exit",
        )
        messages.append(
            _message(**({} if is_notice else {"id": number}), method=method, params=values)
        )
        # An answer to a question that nobody can ask ends what belongs to this message.
        messages.append(_message(id=f"after {number}", method="celadon/none", params={}))
    output = _Output()
    lsp_adapter.language_server().start_io(io.BytesIO(b"".join(messages)), output)
    answers = list(_answers(output.sent or output.getvalue()))
    written = "".join(
        f"{line}\n{said}\n" for line, said in zip(lines, _by_line(answers), strict=True)
    )
    written = written.replace(uri, "POLICY").replace(tmp_path.as_uri(), "FOLDER")
    written = written.replace(str(tmp_path), "FOLDER").replace(__version__, "VERSION")
    if request.config.getoption("--update-golden"):
        path.write_text(f"{files}\n>>>\n{written}", encoding="utf-8")
        expected = path.read_text(encoding="utf-8")
    assert written == expected.partition("\n>>>\n")[2]


def _by_line(answers: list[dict[str, Any]]) -> Iterator[str]:
    """What was said between one message and the next."""
    number, said = 1, ""
    for answer in answers:
        if answer.get("id") == f"after {number}":
            yield said
            number, said = number + 1, ""
        elif answer.get("id") != 0:
            said += _shown(answer, number)
