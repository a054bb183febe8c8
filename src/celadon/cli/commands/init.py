"""`celadon init`: a first project."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from celadon.cli import output
from celadon.cli.reading.documents import Exit

DESCRIPTION: Final = """\
Write a first project: a policy with its binding and test, a manifest, and what runs celadon on them
(pre-commit, GitHub, GitLab). Nothing that is there is overwritten.
"""

EPILOG: Final = """\
examples:
  celadon init
  celadon init policies-of-the-platform

exit codes:
  0  the project was written
  2  wrong usage, or a file that is there already or cannot be written
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The folder."""
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="where (default: `.`)"
    )


def run(options: argparse.Namespace) -> Exit:
    """Write, and say what comes next."""
    from celadon.cli.starting import COMMANDS, FILES, ProjectError, write_project

    folder = Path(options.folder)
    try:
        write_project(folder)
    except ProjectError as error:
        return output.usage_error("celadon init", str(error))
    for name in FILES:
        output.say(f"written: {folder / name}")
    output.say("\n".join(["next:", *(f"  {command}" for command in COMMANDS)]))
    return Exit.OK
