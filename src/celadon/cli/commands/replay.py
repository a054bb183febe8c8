"""`celadon replay`: what policies would have said to last week's requests, and what was said."""

from __future__ import annotations

import argparse
from typing import Final

from celadon.cli import output
from celadon.cli.check import check_options
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import POLICIES, add_exclude, add_files, add_version
from celadon.cli.project_config import add_project, use_project
from celadon.cli.report.report_model import REPLAY

DESCRIPTION: Final = """\
Replay the requests of an audit log against ValidatingAdmissionPolicies: what would have been
denied, for whom, since when; and what the policies of the cluster did deny and audit then.

LOGS are files of audit events (audit.k8s.io/v1), folders of rotated files, or - for standard input;
JSON lines or lists, packed with gzip or not, as API servers write them or as EKS (CloudWatch), AKS
(diagnostics) and GKE (Cloud Logging) export them. What a log does not tell is not guessed: such
requests are counted as undecidable, with the reason. The server's built-in plugins (PodSecurity,
LimitRanger ...) are asked about what was created, with the user of the log; ResourceQuota is not,
since nobody knows what was used then.
"""

EPILOG: Final = """\
examples:
  celadon replay -f policies/ /var/log/kubernetes/audit/
  celadon replay -f policies/ audit.log -o json
  aws logs filter-log-events --log-group-name /aws/eks/prod/cluster | celadon replay -f policies/ -

exit codes:
  0  no request would have been denied
  1  a request would have been denied
  2  wrong usage, or a log that cannot be read
  3  a policy is broken
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon replay --help` shows."""
    parser.add_argument("logs", nargs="*", metavar="LOGS", help="audit logs")
    add_files(parser, POLICIES)
    add_exclude(parser)
    add_version(parser, default=None)
    check_options.add_plugins(parser.add_argument_group("admission plugins"))
    check_options.add_conversion_calls(parser.add_argument_group("conversion webhooks"))
    parser.add_argument("--strict", action="store_true", help="notices are failures")
    looks = parser.add_argument_group("output")
    REPLAY.add_options(looks, quiet="only numbers and notices", verbose="all groups")
    add_project(parser)


def run(options: argparse.Namespace) -> Exit:
    """Read, replay, report."""
    from datetime import UTC, datetime

    from celadon.cli.check.check_options import read_policies
    from celadon.cli.check.manifests import policy_sets
    from celadon.cli.replay import Replay, replay

    options.files = [*use_project(options, output.complain), *options.files]
    plugins = check_options.chosen_plugins(options)
    conversions = check_options.conversion_services(options)
    wrong = _wrong_use(options)
    if wrong:
        raise WrongUseError(wrong)
    progress = output.Progress("events replayed:")
    manifests = read_policies(options, output.complain, strict=options.strict)
    inputs = Replay(
        manifests,
        policy_sets(manifests, options.kubernetes_version),
        options.kubernetes_version,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        options.strict,
        progress.share,
        plugins,
        conversions,
    )
    report = replay(inputs, options.logs)
    progress.done()
    output.show(report, REPLAY, options)
    return report.exit


def _wrong_use(options: argparse.Namespace) -> str:
    if not options.files:
        return "no policies: give them with `-f`"
    if not options.logs:
        return "nothing to replay: give audit logs"
    if [*options.files, *options.logs].count("-") > 1:
        return "standard input (`-`) can only be read once"
    return check_options.wrong_calls(options)
