"""`celadon test schema`: the JSON schema of files of kind PolicyTest."""

from __future__ import annotations

import argparse
import json
from typing import Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit

DESCRIPTION: Final = "Print the JSON schema of test files, for editors."
EPILOG: Final = """\
examples:
  celadon test schema > policy-test.json

exit codes:
  0  always
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the command has no arguments."""


def run(options: argparse.Namespace) -> Exit:
    """Print the schema."""
    from celadon.cli.policytest.file_format import SCHEMA

    output.write(json.dumps(SCHEMA, indent=2) + "\n")
    return Exit.OK
