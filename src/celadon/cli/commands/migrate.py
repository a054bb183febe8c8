"""`celadon migrate`: policies of Kyverno and Gatekeeper as policies of Kubernetes."""

from __future__ import annotations

import argparse
import importlib.util
import os
from typing import Final

from celadon.cli import output
from celadon.cli.exits import Exit
from celadon.cli.report.report_model import MIGRATION, Look

_PROGRAM: Final = "celadon migrate"

DESCRIPTION: Final = """\
Translate policies of Kyverno (ClusterPolicy, Policy, ValidatingPolicy) and of Gatekeeper
(ConstraintTemplate with its constraints) into ValidatingAdmissionPolicies and
MutatingAdmissionPolicies with their bindings, and run the tests that come with them
(kyverno-test.yaml, suites of gator) against the translation. A rule is translated whole or not at
all, and each rule that is not has its reason.

PATHS may be files, folders, globs, or - for standard input; CustomResourceDefinitions among them
tell which resources kinds are of. Needs jmespath: pip install 'celadon[migrate]'
"""

EPILOG: Final = """\
examples:
  celadon migrate policies/ -o translated/
  celadon migrate policies/ -o translated/ --warn --report html > report.html
  kubectl get clusterpolicies,policies -A -o yaml | celadon migrate -
  celadon migrate require-labels.yaml

what is said of a rule:
  translated      and what its tests say, the translation says
  differs         a test expects something else: the object is named
  not translated  the reason is said, and what to use instead

exit codes:
  0  every rule was translated, and agrees with its tests
  1  a rule was not translated, or differs
  2  wrong usage, or an input that cannot be read or an output that cannot be written
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon migrate --help` shows."""
    parser.add_argument("paths", nargs="+", metavar="PATHS", help="policies, and tests")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="where the translation goes, a file for each policy (default: standard output)",
    )
    parser.add_argument(
        "--warn",
        action="store_true",
        help="bindings that warn and audit, whatever the policies say: to begin with",
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    parser.add_argument(
        "--report",
        choices=MIGRATION.names,
        default="text",
        help="how to report, on standard error (standard output with -o) (default: text)",
    )


def run(options: argparse.Namespace) -> Exit:
    """Read, translate, compare, write, report."""
    if importlib.util.find_spec("jmespath") is None:
        missing = "jmespath is not installed: pip install 'celadon[migrate]'"
        return output.usage_error(_PROGRAM, missing)
    from celadon.cli.migration import Migration

    migration = Migration.of(options.paths)
    for problem in migration.problems:
        output.complain(f"error: {problem.text()}")
    if not migration.outcomes and not migration.problems:
        nothing = "there is no policy of Kyverno or Gatekeeper in these files"
        return output.usage_error(_PROGRAM, nothing)
    files = dict(migration.files(warns=options.warn))
    if options.output is None:
        output.write("---\n".join(files.values()))
    elif not _written(options.output, files, force=options.force):
        return Exit.USAGE
    say = output.complain if options.output is None else output.say
    if options.report == MIGRATION.for_people:
        say(MIGRATION.view_of(migration).text(Look()))
    else:
        say(MIGRATION.rendered(migration, options.report))
    if migration.problems:
        return Exit.USAGE
    is_whole = migration.count("translated") == len(migration.outcomes)
    return Exit.OK if is_whole else Exit.DENIED


def _written(folder: str, files: dict[str, str], *, force: bool) -> bool:
    """Write the files; say what is in the way, and write nothing then."""
    taken = [name for name in files if os.path.exists(os.path.join(folder, name))]
    if taken and not force:
        there = os.path.join(folder, taken[0])
        output.usage_error(_PROGRAM, f"`{there}` is there already: see `--force`")
        return False
    try:
        os.makedirs(folder, exist_ok=True)
        for name, content in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        output.usage_error(_PROGRAM, f"`{folder}` cannot be written: {reason}")
        return False
    return True
