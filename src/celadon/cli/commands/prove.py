"""`celadon prove`: what validations can and cannot do, for all objects of a kind."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.options import add_proof_limits
from celadon.cli.reading.documents import Exit

if TYPE_CHECKING:
    from celadon.cli.proofs import Proof

_PROGRAM: Final = "celadon prove"

DESCRIPTION: Final = """\
Ask of each validation of ValidatingAdmissionPolicies, for every kind and operation that the policy
matches: can it fail with an error, can it refuse a request, can it admit one? "No" is a proof for
all objects that the schema of the kind admits. "Yes" comes with an object, which the engine has
judged as claimed.

PATHS may be files, folders, globs, or - for standard input. Needs z3: pip install 'celadon[prove]'
"""

EPILOG: Final = """\
examples:
  celadon prove policies/
  celadon prove policies/replicas.yaml --items 4
  celadon prove policies/ -o json

what is found:
  can fail         an object that the schema admits makes the expression an error
  never refuses    no object is refused: the rule does nothing
  never admits     every object is refused
  not decided      the reason is said, and the place in the expression

not modelled: the cost of expressions, subresources, params and objects of custom kinds

exit codes:
  0  nothing was found
  1  a validation can fail, never refuses, or never admits
  2  wrong usage, or an input that cannot be read
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon prove --help` shows."""
    parser.add_argument("paths", nargs="+", metavar="PATHS", help="policies")
    add_proof_limits(parser)
    parser.add_argument(
        "-o", "--output", choices=("text", "json"), default="text", help="(default: text)"
    )


def run(options: argparse.Namespace) -> Exit:
    """Read the policies, ask, report."""
    if importlib.util.find_spec("z3") is None:
        missing = "z3 is not installed: pip install 'celadon[prove]'"
        return output.usage_error(_PROGRAM, missing)
    from celadon.cli.proofs import Proof, read_policies

    policies, problems = read_policies(options.paths)
    for problem in problems:
        output.complain(f"error: {problem.text()}")
    if not policies and not problems:
        return output.usage_error(_PROGRAM, "there is no ValidatingAdmissionPolicy in these files")
    proofs = [
        proof
        for document, policy in policies
        for proof in Proof.about(document, policy, options.items, options.timeout)
    ]
    _write(proofs, options.output)
    if problems:
        return Exit.USAGE
    return Exit.DENIED if any(proof.is_finding for proof in proofs) else Exit.OK


def _write(proofs: list[Proof], format: str) -> None:
    if format == "json":
        import json

        output.say(json.dumps([proof.to_json() for proof in proofs], indent=2))
        return
    for proof in proofs:
        output.say("\n".join(_lines(proof)))
    found = sum(proof.is_finding for proof in proofs)
    undecided = sum(proof.is_undecided for proof in proofs)
    output.say(f"\n{len(proofs)} validations, {found} with findings, {undecided} not decided")


def _lines(proof: Proof) -> Iterator[str]:
    yield f"{proof.position}: {proof.policy} {proof.field}"
    for title, remark in proof.remarks:
        yield f"  {title}: {remark}" if remark else f"  {title}"
    if proof.example is not None:
        from celadon.goyaml import yaml_text

        yield "  for instance:"
        yield from (f"    {line}" for line in yaml_text(proof.example).rstrip().splitlines())
