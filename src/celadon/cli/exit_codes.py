"""The exit codes of all commands, and the error that ends one with `Exit.USAGE`. Whoever starts a
command reads them before anything else is loaded.
"""

from __future__ import annotations

import enum


class WrongUseError(ValueError):
    """The command line, or a file that it names, does not say what to do; the text says why. It
    ends a command with `Exit.USAGE`."""


class Exit(enum.IntEnum):
    """Exit codes. Where several apply, `INTERNAL` goes before `USAGE`, that before `POLICY`, and
    that before `DENIED`."""

    OK = 0
    """Everything was admitted."""
    DENIED = 1
    """Something was denied, or is invalid (or warned about, under `--fail-on warn`)."""
    USAGE = 2
    """The command line was wrong or an input could not be read."""
    POLICY = 3
    """A policy could not be evaluated (or went unused in silence, under `--strict`)."""
    INTERNAL = 70
    """A defect of ours: some input was not judged, whatever else was."""
    OUTPUT = 74
    """The report could not be written: a full disk, a closed descriptor."""
    INTERRUPTED = 130
    """Ctrl-C."""
    BROKEN_PIPE = 141
    """Nobody reads the output any more."""
