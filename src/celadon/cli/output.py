"""The only module that writes to standard output and standard error.

Reports come in several forms (`report/report_model`), all made from the same value. Colour is used
on a terminal unless `--no-color` or the environment's NO_COLOR say otherwise. Unreadable inputs are
also said on standard error when the report itself is for people.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TextIO

from celadon.cli.exit_codes import Exit

if TYPE_CHECKING:
    import argparse

    from celadon.cli.report.report_model import ReportForms

_PATIENCE: Final = 2.0
"""Seconds of silence before progress is shown."""
_BEAT: Final = 0.1
"""Seconds between two updates of the progress line."""


def use_color(stream: TextIO | None, *, forbidden: bool) -> bool:
    """Return whether to write escape sequences there; not where nothing can be written."""
    return (
        stream is not None
        and not forbidden
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
        and is_terminal(stream)
    )


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a person reads what is written there."""
    return stream is not None and stream.isatty()


def write(text: str) -> None:
    """Write to standard output at once; what the terminal cannot show is escaped."""
    _write(sys.stdout, text)


def say(text: str) -> None:
    """Write a line to standard output, or several, with the text of somebody else in it."""
    write(f"{_shown(text)}\n")


def complain(text: str) -> None:
    """Write a line to standard error, or several."""
    _write(sys.stderr, f"{_shown(text)}\n")


def progress(text: str) -> None:
    """Say on standard error how far a long run is, where that is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        complain(text)


def _shown(text: str) -> str:
    # late: what answers at once has no report, and is over before that is loaded
    from celadon.cli.report.report_model import lines

    return lines(text)


def failure(message: str, code: Exit = Exit.USAGE) -> Exit:
    """Say what went wrong, and return the exit code."""
    complain(f"error: {message}")
    return code


def unwritten(error: OSError) -> str:
    """Return why a file is not what it should be now."""
    return f"cannot be written: {(error.strerror or str(error)).lower()}"


def of_file(error: OSError) -> str:
    """Return what is wrong with which file: `` `a.yaml`: no such file or directory``."""
    if not (error.filename and error.strerror):
        return str(error)
    return f"`{error.filename}`: {error.strerror.lower()}"


def usage_error(program: str, message: str) -> Exit:
    """Return what is wrong with the command line, and where to read more."""
    complain(f"error: {message}")
    complain(f"  see `{program} --help`")
    return Exit.USAGE


def give_up() -> None:
    """Write nothing more: else Python complains while it flushes dead streams at exit."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def complain_if_possible(text: str) -> None:
    """Complain where standard error itself may be what is broken."""
    with contextlib.suppress(OSError):
        complain(text)


class UnwritableError(OSError):
    """Nothing can be written to standard output or standard error; the text says why."""


def _write(stream: TextIO | None, text: str) -> None:
    """Write to a stream. Raises `UnwritableError`, and `BrokenPipeError` where nobody reads any
    more."""
    if stream is None:  # the descriptor was closed when Python started
        raise UnwritableError("the descriptor is closed")
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError((error.strerror or str(error)).lower()) from error


def log_to_stderr(verbosity: int, speaker: str) -> None:
    """Write what the server says to standard error, as JSON lines; `speaker` is the logger that it
    is said by."""
    import logging

    from celadon.apiserver.http import LogLines, log_level

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(speaker))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger("celadon").setLevel(log_level(verbosity))


def show(report: object, forms: ReportForms, options: argparse.Namespace) -> None:
    """Write a report in the form that `options.output` names. People are told on standard error of
    the inputs that could not be read; `options` say how much they get to see, and whether in
    colour."""
    if options.output != forms.for_people:
        write(forms.rendered(report, options.output))
        return
    from celadon.cli.report import report_model  # late: see `_shown`

    view = forms.view_of(report_model.for_people(report))
    for problem in forms.view_of(report).problems:
        complain(f"error: {report_model.for_people(problem).text()}")
    style = report_model.ReportStyle(
        color=use_color(sys.stdout, forbidden=options.no_color),
        verbosity=-1 if getattr(options, "quiet", False) else int(getattr(options, "verbose", 0)),
        mutations=getattr(options, "show_mutations", False),
    )
    write(view.text(style))


class Progress:
    """A line on standard error that counts, if it is a terminal and the work takes a while."""

    __slots__ = ("_active", "_is_shown", "_next", "_start", "_subject")

    def __init__(self, subject: str) -> None:
        self._subject = subject
        self._active = is_terminal(sys.stderr)
        self._start = time.monotonic()
        self._next = self._start + _PATIENCE
        self._is_shown = False

    def started(self, subject: str) -> Callable[[int], None]:
        """Begin the next stretch of the work; return what to call with its counts."""
        self._subject = subject
        return self.step

    def step(self, done: int) -> None:
        """So many are done; shown at most ten times a second."""
        if not self._active:
            return
        now = time.monotonic()
        if now >= self._next:
            self._show(now, f"{done}")

    def share(self, done: int, share: float) -> None:
        """So many are done, which is this share of the work: with the time that remains."""
        if not self._active:
            return
        now = time.monotonic()
        if now >= self._next:
            seconds_left = (now - self._start) * (1 - share) / share if share else 0.0
            remaining = f", {seconds_left:.0f}s left" if share else ""
            self._show(now, f"{done} ({share:.0%}{remaining})")

    def _show(self, now: float, text: str) -> None:
        self._next = now + _BEAT
        self._is_shown = True
        _write(sys.stderr, f"\r{self._subject} {text}\033[K")

    def done(self) -> None:
        """Take the line away."""
        if self._is_shown:
            _write(sys.stderr, "\r\033[K")
            self._is_shown = False
