"""`celadon explain`: why admission policies decide as they do."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.check.check_options import CheckInputs, add_question, check_inputs
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.project_config import add_verbose
from celadon.cli.report.report_model import EXPLANATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from celadon.cli.check.check_report import ObjectResult


DESCRIPTION: Final = """\
Tell why admission policies decide about an object as they do.

Asked like `celadon check`, with the same inputs: shown is every policy and binding in the order of
evaluation, why it matches or not, which params were found, and each expression with the value of
every part of it: what was not evaluated, what became of errors, what it cost.
"""

EPILOG: Final = """\
examples:
  celadon explain -f policies/ deployment.yaml
  celadon explain -f policies/ manifests/ --only web --policy require-owner
  celadon explain -f policies/ --operation UPDATE --old deployed.yaml changed.yaml
  celadon explain -f policies/ --from event.json
  celadon explain -f policies/ deployment.yaml -o html > why.html

exit codes:
  0  everything that was explained is admitted
  1  something is denied, or is invalid
  2  wrong usage, or an input that cannot be read
  3  a policy could not be evaluated, or a webhook not be asked
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon explain --help` shows."""
    add_question(parser)
    chosen = parser.add_argument_group("which object")
    chosen.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="OBJECT",
        help="of several objects the one with this name, title (`Deployment shop/web`) or number "
        "(from 1); may be repeated",
    )
    chosen.add_argument(
        "--from",
        dest="record",
        metavar="FILE",
        help="an AdmissionReview, or an audit Event with what was sent, instead of RESOURCES",
    )
    looks = parser.add_argument_group("output")
    EXPLANATION.add_options(looks)
    add_verbose(parser)
    parser.set_defaults(strict=False, fail_on="deny", jobs=1)


def run(options: argparse.Namespace) -> Exit:
    """Read, judge, explain."""
    from celadon.cli.check.recorded_requests import explained_objects

    progress = output.Progress("documents read:")
    inputs = _given(options, progress.step)
    is_chosen = _wanted(options.only)
    report, objects = explained_objects(inputs, is_chosen, progress.started("objects judged:"))
    progress.done()
    for broken in report.policy_errors:
        output.complain(f"error: {broken.place}: {broken.message}")
    for problem in report.problems:
        output.complain(f"error: {problem.text()}")
    if not objects and not report.problems:
        if not (options.resources or options.record):
            raise WrongUseError("nothing to explain: give manifests")
        place = ", ".join(f"`{resource}`" for resource in options.resources or [options.record])
        raise WrongUseError(f"there is no such object to explain in {place}")
    output.show(objects, EXPLANATION, options)
    return report.exit


def _given(options: argparse.Namespace, step: Callable[[int], None]) -> CheckInputs:
    """Return the inputs of the question, or of a recorded request. Raises WrongUseError."""
    if options.record is None:
        return check_inputs(options, step, output.complain)
    from celadon.cli.check.recorded_requests import asked_as_recorded, recorded_request

    if options.resources:
        raise WrongUseError("`--from` stands for the RESOURCES: give one or the other")
    recorded = recorded_request(options.record)
    options.operation = "UPDATE" if options.old else "CREATE"  # as far as the options tell
    return asked_as_recorded(check_inputs(options, step, output.complain), recorded)


def _wanted(names: list[str]) -> Callable[[int, ObjectResult], bool]:
    """Return whether an object was asked for; all of the files are if none is named, and what
    controllers would create is if it is refused."""

    def expected(number: int, result: ObjectResult) -> bool:
        is_given = result.created_by is None
        if not names:
            return is_given or result.is_refused
        result_names = {result.name, result.title, *([str(number)] if is_given else ())}
        return bool(result_names.intersection(names))

    return expected
