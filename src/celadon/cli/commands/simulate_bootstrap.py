"""`celadon simulate-bootstrap`: whether policies and webhooks can lock a cluster out."""

from __future__ import annotations

import argparse
from typing import Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import add_version
from celadon.cli.report.report_model import BOOTSTRAP

DESCRIPTION: Final = """\
Say whether policies and webhooks can lock a cluster out: send them what a cluster sends while it
comes up and runs (the API server, controllers, kubelets, the scheduler, what runs in kube-system,
deletion, repair), and tell from which request what follows.

PATHS are files, folders, globs, or - for standard input: policies, bindings, webhook
configurations; and, as far as they are about them, params, their CustomResourceDefinitions,
Namespaces, roles, and the Services and Deployments behind webhooks.
"""

EPILOG: Final = """\
examples:
  celadon simulate-bootstrap policies/
  celadon simulate-bootstrap policies/ webhook/ --fail-on deadlocked
  helm template ./policies | celadon simulate-bootstrap - -o json

exit codes:
  0  none of the requests locks the cluster, or breaks a part of it
  1  something would be locked out, deadlocked or degraded
  2  wrong usage, or an input that cannot be read
  3  a policy is broken
"""

_LEVELS: Final = ("degraded", "deadlocked", "locked-out")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon simulate-bootstrap --help` shows."""
    parser.add_argument("paths", nargs="*", metavar="PATHS", help="policies and webhooks")
    add_version(parser)
    parser.add_argument(
        "--fail-on",
        choices=_LEVELS,
        default=_LEVELS[0],
        help="the least that is a failure (default: degraded)",
    )
    parser.add_argument("--strict", action="store_true", help="notices are failures")
    looks = parser.add_argument_group("output")
    BOOTSTRAP.add_options(
        looks, quiet="only chains and the verdict", verbose="all requests and consequences"
    )


def run(options: argparse.Namespace) -> Exit:
    """Read, simulate, report."""
    from celadon.cli.bootstrap.bootstrap_report import simulate
    from celadon.cli.bootstrap.cluster_startup import level_of
    from celadon.cli.check.manifests import Parts, gather
    from celadon.cli.project_config import summary

    if not options.paths:
        raise WrongUseError("nothing to simulate: give PATHS")
    progress = output.Progress("documents read:")
    manifests = gather(options.paths, (), (), Parts(), progress.step)
    progress.done()
    if manifests.others and options.strict:
        manifests.problems += manifests.others
    elif manifests.others:
        output.complain(summary(manifests.others))
    report = simulate(
        manifests,
        options.kubernetes_version,
        strict=options.strict,
        fail_on=level_of(options.fail_on),
    )
    output.show(report, BOOTSTRAP, options)
    return report.exit
