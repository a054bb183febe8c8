"""`celadon prove`: what validations can and cannot do, for all objects of a kind."""

from __future__ import annotations

import argparse
import importlib.util
from typing import Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import (
    DEFAULT_VERSION,
    add_cache,
    add_exclude,
    add_proof_limits,
    kubernetes_version,
)
from celadon.cli.report.report_model import CLAIMS, PROOFS

_PROGRAM: Final = "celadon prove"

DESCRIPTION: Final = """\
Ask of each validation of ValidatingAdmissionPolicies, for every kind and operation that the policy
matches: can it fail with an error, can it refuse a request, can it admit one? "No" is a proof for
all objects that the schema of the kind admits. "Yes" comes with an object, which the engine has
judged as claimed. Match conditions and variables are asked, too, and parts of policies that change
nothing are found. The validation rules of
CustomResourceDefinitions are asked the same, and whether fields that they call immutable are.

With --property, --implies or --implied-by something is claimed of all these policies together: it
is proved, or there is a request against it.

PATHS may be files, folders, globs, or - for standard input. Needs z3: pip install 'celadon[prove]'
"""

EPILOG: Final = """\
examples:
  celadon prove policies/
  celadon prove policies/replicas.yaml --items 4
  celadon prove policies/ -o json
  celadon prove --property limits.properties.yaml policies/
  celadon prove --implies pod-security/restricted policies/ -o github

what is found:
  can fail         an object that the schema admits makes the expression an error
  no message       its messageExpression is an error or blank when it refuses
  never refuses    no object is refused: the rule does nothing
  never admits     every object is refused
  never holds      the match conditions: the policy does nothing
  never true       (or never false) a variable
  changes nothing  a validation that others imply, a match condition, a rule that excludes: without
                   it, the policy refuses the same
  admit nothing    the validations of a policy, or the rules at a place of a definition, together
  can be changed   a field that a rule calls immutable; also by removing and adding it again
  not decided      the reason is said, and the place in the expression

not modelled: the cost of expressions, subresources, custom kinds without a definition

exit codes:
  0  nothing was found
  1  something was found; a claim has a counterexample
  2  wrong usage, or an input that cannot be read
  3  a claim is not decided, or a policy is broken
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon prove --help` shows."""
    parser.add_argument("paths", nargs="+", metavar="PATHS", help="policies and definitions")
    parser.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="FILE",
        help="prove these properties of the policies together; may be repeated",
    )
    parser.add_argument(
        "--implies",
        action="append",
        default=[],
        metavar="STANDARD",
        help="prove that the policies refuse all that pod-security/baseline or "
        "pod-security/restricted (or :1.32, the version of a release) refuses",
    )
    parser.add_argument(
        "--implied-by",
        action="append",
        default=[],
        metavar="STANDARD",
        help="prove that the policies refuse nothing else",
    )
    parser.add_argument(
        "--kubernetes-version",
        type=kubernetes_version,
        default=DEFAULT_VERSION,
        metavar="VERSION",
        help=f"the release that decides (default: {DEFAULT_VERSION})",
    )
    add_exclude(parser)
    add_proof_limits(parser)
    add_cache(
        parser, "keep answers there, and do not ask again what did not change; not for claims"
    )
    CLAIMS.add_options(parser)


def run(options: argparse.Namespace) -> Exit:
    """Read the policies, ask, report."""
    if importlib.util.find_spec("z3") is None:
        raise WrongUseError("z3 is not installed: pip install 'celadon[prove]'")
    if options.property or options.implies or options.implied_by:
        return _prove_claims(options)
    return _prove_parts(options)


def _prove_parts(options: argparse.Namespace) -> Exit:
    """Prove what can be said of policies and definitions by themselves."""
    from celadon.cli.celadon_documents import AnswerCache
    from celadon.cli.project_config import summary
    from celadon.cli.proof_report import ProofItem, ProofReport
    from celadon.cli.proofs import ProofLimits, read_subjects
    from celadon.cli.reading.documents import Exclusion, Problem

    unread: list[Problem] = []
    subjects, problems = read_subjects(options.paths, unread, Exclusion(options.exclude))
    if unread:
        output.complain(summary(unread).partition(";")[0])
    if not subjects and not problems:
        raise WrongUseError(_NOTHING)
    limits = ProofLimits(options.kubernetes_version, options.items, options.timeout)
    try:
        cache = AnswerCache(options.cache)
    except OSError as error:
        raise WrongUseError(f"{error.filename}: {error.strerror}") from None
    items: list[ProofItem] = []
    for subject in subjects:
        items += subject.answered(limits, cache, output.progress)
    if cache.problem:
        output.complain(f"{_PROGRAM}: {cache.problem}")
    report = ProofReport(tuple(items), tuple(problems))
    output.show(report, PROOFS, options)
    return report.exit


_NOTHING: Final = (
    "there is no ValidatingAdmissionPolicy and no CustomResourceDefinition in these files"
)


def _prove_claims(options: argparse.Namespace) -> Exit:
    """Prove what is claimed of all policies together."""
    from celadon.cli.diff import read_side
    from celadon.cli.property_proofs import ClaimReport, Claims, answered, read_properties
    from celadon.cli.reading.documents import Exclusion
    from celadon.prove import Standard

    version: str = options.kubernetes_version
    standards: list[list[Standard]] = []
    for names in (options.implies, options.implied_by):
        result = [(name, Standard.named(name, int(version.partition(".")[2]))) for name in names]
        for name, standard in result:
            if standard is None:
                raise WrongUseError(f"unknown standard `{name}`, {_EXPECTED}")
        standards.append([standard for _, standard in result if standard is not None])
    properties, problems = read_properties(options.property, version)
    if problems:
        report = ClaimReport(problems=tuple(problems))
    else:
        side = read_side("policies", options.paths, version, exclude=Exclusion(options.exclude))
        claims = Claims(tuple(properties), tuple(standards[0]), tuple(standards[1]))
        report = answered(side, claims, options.items, options.timeout, output.progress)
    output.show(report, CLAIMS, options)
    return report.exit


_EXPECTED: Final = "expected pod-security/baseline or pod-security/restricted, :1.25 or later"
