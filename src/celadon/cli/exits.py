"""What the commands say to the shell."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """Exit codes. Where several apply, `USAGE` goes before `POLICY`, and that before `DENIED`."""

    OK = 0
    """Everything was admitted."""
    DENIED = 1
    """Something was denied, or is invalid (or warned about, under `--fail-on warn`)."""
    USAGE = 2
    """The command line was wrong or an input could not be read."""
    POLICY = 3
    """A policy could not be evaluated (or went unused in silence, under `--strict`)."""
    INTERRUPTED = 130
    """Ctrl-C."""
    BROKEN_PIPE = 141
    """Nobody reads the output any more."""
