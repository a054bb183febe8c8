"""The man page of celadon, from the parsers of its commands: `make man`.

It is built and not kept: it says what `celadon COMMAND --help` says, in the language of roff.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator

from celadon import __version__
from celadon.cli.main import COMMANDS, Command, parser_of

_ESCAPES = str.maketrans(
    {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
)
_HEAD = """\
.TH CELADON 1 "" "celadon {version}" "User Commands"
.SH NAME
celadon \\- Kubernetes' admission control without a cluster
.SH SYNOPSIS
.B celadon
.I COMMAND
[\\fIARGUMENT\\fR ...]
.SH DESCRIPTION
Celadon tells whether the Kubernetes API server would admit an object. It is a command for
pipelines, an API server for tests, and a webhook for clusters.
.SH COMMANDS
"""
_TAIL = """\
.SH ENVIRONMENT
.TP
.B NO_COLOR
no colours if it is not empty
.TP
.B CELADON_TRACEBACK
with 1, an internal error shows where it happened
.SH FILES
.TP
.I celadon.toml
the configuration of commands, in the working directory or above it
"""


def page() -> str:
    """All of it."""
    sections = [line for command in COMMANDS for line in _section(command)]
    return _HEAD.format(version=_text(__version__)) + "\n".join(sections) + "\n" + _TAIL


def _section(command: Command) -> Iterator[str]:
    parser = parser_of(command)
    yield f".SS celadon {command.name}"
    for paragraph in (parser.description or "").strip().split("\n\n"):
        yield ".PP"
        yield _text(paragraph)
    for action in parser._actions:
        yield ".TP"
        yield _name(action)
        yield _text(action.help or "")
    yield ".PP"
    yield ".nf"
    yield _text((parser.epilog or "").strip())
    yield ".fi"


def _name(action: argparse.Action) -> str:
    """Options in bold, what they take in italics."""
    value = shown_value(action)
    if not action.option_strings:
        return f"\\fI{_text(value)}\\fR"
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
    return f"{names} \\fI{_text(value)}\\fR" if value else names


def shown_value(action: argparse.Action) -> str:
    """What stands behind an option; nothing behind a flag."""
    if action.nargs == 0:
        return ""
    if action.metavar is not None:
        return str(action.metavar)
    return "|".join(map(str, action.choices or (action.dest.upper(),)))


def _text(text: str) -> str:
    """As text: no line begins a request, and what is copied from it is still ASCII."""
    return re.sub(r"^(?=\.)", r"\\&", text.translate(_ESCAPES), flags=re.MULTILINE)


if __name__ == "__main__":
    sys.stdout.write(page())
