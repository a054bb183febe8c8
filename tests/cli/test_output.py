"""What is written to the standard streams, and to whom colours and counts are shown."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Callable

import pytest

from celadon.cli import output
from celadon.cli.exit_codes import Exit
from celadon.cli.processes import leave


class Terminal(io.StringIO):
    """A stream that a person reads; it can say no other characters than those of an encoding."""

    def __init__(self, characters: str = "utf-8") -> None:
        super().__init__()
        self._characters = characters

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._characters

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        text.encode(self._characters)
        return super().write(text)


@pytest.mark.parametrize(
    ("stream", "environment", "forbidden", "expected"),
    [
        (Terminal(), {}, False, True),
        (Terminal(), {}, True, False),
        (Terminal(), {"NO_COLOR": "1"}, False, False),
        (Terminal(), {"NO_COLOR": ""}, False, True),
        (Terminal(), {"TERM": "dumb"}, False, False),
        (Terminal(), {"TERM": "xterm"}, False, True),
        (io.StringIO(), {}, False, False),
        (None, {}, False, False),
    ],
)
def test_colours(
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO | None,
    environment: dict[str, str],
    *,
    forbidden: bool,
    expected: bool,
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert output.use_color(stream, forbidden=forbidden) is expected


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    output.write("a")
    output.say("b\x1bc")
    output.complain("d\x1be")
    assert output.usage_error("celadon x", "no") is Exit.USAGE
    assert capsys.readouterr() == (
        "ab\\x1bc\n",
        "d\\x1be\nerror: no\n  see `celadon x --help`\n",
    )


def test_what_a_stream_cannot_show_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal("ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    output.write("é\n")
    assert stream.getvalue() == "\\xe9\n"


class Broken(io.StringIO):
    """A stream that fails."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def flush(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("stream", "error", "text"),
    [
        (None, output.UnwritableError, "the descriptor is closed"),
        (
            Broken(OSError(errno.ENOSPC, "No space left on device")),
            output.UnwritableError,
            "no space left on device",
        ),
        (Broken(OSError("Gone")), output.UnwritableError, "gone"),
        (Broken(BrokenPipeError(errno.EPIPE, "Broken pipe")), BrokenPipeError, "Broken pipe"),
    ],
)
def test_what_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO | None,
    error: type[OSError],
    text: str,
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(error, match=text):
        output.complain("x")
    output.complain_if_possible("x")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the time, in seconds since the work began at 100."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, 100 + seconds)


def test_progress(monkeypatch: pytest.MonkeyPatch, clock: Callable[[float], None]) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = output.Progress("reading")

    def shown_at(seconds: float, tell: Callable[[], object]) -> str:
        before = len(stream.getvalue())
        clock(seconds)
        tell()
        return stream.getvalue()[before:]

    assert shown_at(1.99, lambda: progress.step(1)) == ""
    assert shown_at(1.99, progress.done) == ""
    assert shown_at(2, lambda: progress.step(2)) == "\rreading 2\033[K"
    assert shown_at(2.09, lambda: progress.step(3)) == ""
    assert shown_at(2.09, lambda: progress.share(3, 0.5)) == ""
    assert shown_at(3, lambda: progress.share(4, 0.25)) == "\rreading 4 (25%, 9s left)\033[K"
    assert shown_at(4, lambda: progress.share(5, 0)) == "\rreading 5 (0%)\033[K"
    judged = progress.started("judging")
    assert shown_at(5, lambda: judged(6)) == "\rjudging 6\033[K"
    assert shown_at(5, progress.done) == "\r\033[K"
    assert shown_at(6, progress.done) == ""


def test_no_progress_where_nobody_reads(
    monkeypatch: pytest.MonkeyPatch, clock: Callable[[float], None]
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = output.Progress("reading")
    clock(60)
    progress.step(1)
    progress.share(1, 0.5)
    progress.done()
    assert stream.getvalue() == ""


def test_a_process_leaves_with_all_that_it_has_written(monkeypatch: pytest.MonkeyPatch) -> None:
    class Left(Exception):
        """The end of the process."""

    class Flushed(io.StringIO):
        """Counts how often all was written."""

        count = 0

        def flush(self) -> None:
            self.count += 1

    def leave_with(code: int) -> None:
        raise Left(code)

    stdout = Flushed()
    monkeypatch.setattr("os._exit", leave_with)
    monkeypatch.setattr(sys, "stdout", stdout)
    for stderr in (None, Broken(BrokenPipeError()), Broken(OSError())):
        monkeypatch.setattr(sys, "stderr", stderr)
        with pytest.raises(Left, match=r"^3$"):
            leave(3)
    assert stdout.count == 3
