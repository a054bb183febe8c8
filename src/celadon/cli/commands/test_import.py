"""`celadon test import`: tests of other tools as files of kind PolicyTest."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import add_expected
from celadon.cli.reading.documents import Problem, read_text

DESCRIPTION: Final = """\
Rewrite tests of other tools as a file of kind PolicyTest beside the original: kyverno-test.yaml,
kaptest manifests, tests.json of Kubescape's CEL library, suites of gator with CEL, tests.yaml of
cel-go's policies, AdmissionReviews. Cases that a PolicyTest cannot say are left out, and named.
`celadon test` runs these as they are, too.
"""

EPILOG: Final = """\
examples:
  celadon test import policies/kyverno-test.yaml
  celadon test import controls/C-0016/tests.json --stdout

exit codes:
  0  the test was written
  1  it was written, but without cases that a PolicyTest cannot say
  2  wrong usage, a file that cannot be read or has nothing that a PolicyTest can say, or a test
     that is there already
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon test import --help` shows."""
    parser.add_argument("file", metavar="FILE", help="a test of another tool")
    add_expected(parser)
    parser.add_argument("--stdout", action="store_true", help="print it instead")
    parser.add_argument("--force", action="store_true", help="replace a test that is there")


def run(options: argparse.Namespace) -> Exit:
    """Read, rewrite, write."""
    from celadon.cli.policytest.importers.foreign_formats import foreign_tests
    from celadon.cli.report.report_model import yaml_text

    path = f"{os.path.splitext(options.file)[0]}.policytest.yaml"
    if os.path.exists(path) and not (options.force or options.stdout):
        raise WrongUseError(f"`{path}` is there already: see `--force`")
    text = read_text(options.file)
    if isinstance(text, Problem):
        return _refused([text])
    imports = foreign_tests(text, options.expect)
    if not imports:
        return _refused([Problem(text.file, 0, "no test of a tool that is known")])
    problems = [problem for rewritten in imports for problem in rewritten.test.problems]
    if problems:
        return _refused(problems)
    left_out = [case for rewritten in imports for case in rewritten.left_out]
    written = [rewritten for rewritten in imports if rewritten.document["cases"]]
    if not written:
        return _refused([Problem(case.place.file, case.place.line, case.skip) for case in left_out])
    content = "---\n".join(yaml_text(rewritten.document) for rewritten in written)
    if options.stdout:
        output.write(content)
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        count = sum(len(rewritten.document["cases"]) for rewritten in written)
        output.complain(f"written: {path}, {count} cases")
    for case in left_out:
        output.complain(f"left out: {case.name}: {case.skip}")
    for doubt in (doubt for rewritten in imports for doubt in rewritten.test.assumed):
        output.complain(f"note: {doubt.text}")
    return Exit.DENIED if left_out else Exit.OK


def _refused(problems: Sequence[Problem]) -> Exit:
    for problem in problems:
        output.complain(f"error: {problem.text()}")
    return Exit.USAGE
