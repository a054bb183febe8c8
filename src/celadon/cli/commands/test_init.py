"""`celadon test init`: a first test for a policy."""

from __future__ import annotations

import argparse
import os
from typing import Final

from celadon.cli import output
from celadon.cli.options import add_version
from celadon.cli.reading.documents import Exit

DESCRIPTION: Final = """\
Write a first test for a policy, beside it: for each validation a request that it refuses and one
that it lets pass; for each mutation one that it changes, and one that is left as it is. They are
found by search over objects of the kinds that the policy matches (custom kinds by the definitions
beside it); what was not found is said in the file.
"""

EPILOG: Final = """\
examples:
  celadon test init policies/limit.yaml
  celadon test init policies/all.yaml --policy limit --stdout

exit codes:
  0  the test was written
  1  it was written, but not all that was looked for was found
  2  wrong usage, a file that cannot be read, or a test that is there already
  3  a policy that no API server would take
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon test init --help` shows."""
    parser.add_argument("file", metavar="POLICY", help="a file with the policy")
    parser.add_argument("--policy", metavar="NAME", help="which one, if the file has several")
    parser.add_argument("--stdout", action="store_true", help="print it instead")
    parser.add_argument("--force", action="store_true", help="replace a test that is there")
    add_version(parser)


def run(options: argparse.Namespace) -> Exit:
    """Search and write."""
    from celadon.cli.policytest.scaffolding.case_search import search
    from celadon.cli.policytest.scaffolding.first_policy import first_file, first_policy

    path = f"{os.path.splitext(options.file)[0]}.policytest.yaml"
    if os.path.exists(path) and not (options.force or options.stdout):
        return output.usage_error("celadon test init", f"`{path}` is there already: see `--force`")
    given = first_policy(options.file, options.policy, options.kubernetes_version)
    for problem in given.problems:
        output.complain(f"error: {problem.text()}")
    if given.problems:
        return Exit.POLICY if given.is_broken else Exit.USAGE
    found = search(given.documents, given.name, options.kubernetes_version, given.definitions)
    text = first_file(found, given, os.path.dirname(options.file))
    if options.stdout:
        output.write(text)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        count = text.count("\n- name: ")
        output.complain(f"written: {path}, {count} cases after {found.trials} trials")
    mutates = found.subject.mutates
    for index in found.unsolved:
        what = f"mutation {index} changes" if mutates else f"validation {index} refuses"
        output.complain(f"not found: a request that {what}")
    if found.admitted is None:
        output.complain(
            f"not found: a request that is {'left as it is' if mutates else 'admitted'}"
        )
    return Exit.OK if found.is_complete else Exit.DENIED
