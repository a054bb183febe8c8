"""`celadon init`: a first project."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Final

from celadon.cli import output
from celadon.cli.exits import Exit

DESCRIPTION: Final = """\
Write a first project: a policy with its binding and test, a manifest, and what runs celadon on
them (pre-commit, GitHub, GitLab). With --library, policies of `celadon library` beside it. Nothing
that is there is overwritten, and no question is asked.
"""

EPILOG: Final = """\
examples:
  celadon init
  celadon init policies-of-the-platform
  celadon init --library pod-security-restricted no-latest-tag

exit codes:
  0  the project was written
  2  wrong usage, an unknown name, or a file that is there already or cannot be written
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The folder, and what else is to be in it."""
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="where (default: `.`)"
    )
    parser.add_argument(
        "--library",
        nargs="+",
        default=[],
        metavar="NAME",
        help="policies of `celadon library`, by name or topic",
    )


def run(options: argparse.Namespace) -> Exit:
    """Write, and say what comes next."""
    from celadon.cli.commands.library import say_what_to_set, unknown_name
    from celadon.cli.library.shelf import (
        CopyError,
        UnknownNameError,
        chosen,
        copy,
        library,
        refuse_existing,
    )
    from celadon.cli.starting import COMMANDS, POLICIES, ProjectError, write_project

    folder = Path(options.folder)
    try:
        policies = chosen(library(), options.library)
        refuse_existing(policies, folder / POLICIES)
        written = [*write_project(folder), *copy(policies, folder / POLICIES)]
    except UnknownNameError as error:
        return output.usage_error("celadon init", unknown_name(error.word))
    except (ProjectError, CopyError) as error:
        return output.usage_error("celadon init", str(error))
    for path in written:
        output.say(f"written: {path}")
    say_what_to_set(policies, folder / POLICIES)
    enter = [] if options.folder == "." else [f"cd {shlex.quote(options.folder)}"]
    output.say("\n".join(["next:", *(f"  {command}" for command in (*enter, *COMMANDS))]))
    if not policies:
        output.say("more policies:\n  celadon library list\n  celadon library add NAME")
    return Exit.OK
