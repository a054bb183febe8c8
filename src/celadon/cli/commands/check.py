"""`celadon check`: judge manifests by admission policies, after those that change them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.check import check_options
from celadon.cli.exit_codes import Exit
from celadon.cli.options import count
from celadon.cli.processes import garbage_later, leave
from celadon.cli.report.report_model import CHECK, UPGRADE

if TYPE_CHECKING:
    from celadon.cli.check.check_report import Report
    from celadon.cli.check.object_judging import Settings

DESCRIPTION: Final = """\
Judge manifests by ValidatingAdmissionPolicies, as kube-apiserver would, after
MutatingAdmissionPolicies have changed them.

RESOURCES are to be admitted. What is given with -f describes the cluster: policies and bindings,
and what they look up (params, namespaces, CustomResourceDefinitions, roles). Both may be files,
folders, globs, or - for standard input; YAML or JSON, any number of documents, and lists.
Policies, bindings and webhook configurations are recognised wherever they are. Webhooks are named,
and asked only if the options say how. The server's built-in plugins (PodSecurity, ResourceQuota,
LimitRanger ...) are asked too, and below each workload the Pod is judged that its controller would
create. A plugin that looks at what no file has cannot be asked: the report says so.
"""

EPILOG: Final = """\
examples:
  celadon check -f policies/ manifests/
  celadon check -f policies/ -f cluster/ 'apps/**/*.yaml' -o github
  helm template ./chart | celadon check -f policies/ -
  celadon check -f policies/ --operation UPDATE --old deployed.yaml changed.yaml
  celadon check -f policies/ --apply --old deployed.yaml manifests/
  celadon check -f policies/ --as alice --as-group developers pod.yaml
  celadon check -f policies/ --kubernetes-version 1.31..1.36 manifests/

exit codes:
  0  everything was admitted
  1  something was denied, or is invalid; with several releases: a later one refuses what the
     oldest admits, does not serve its version, or drops a field of it
  2  wrong usage, or an input that cannot be read
  3  a policy could not be evaluated, or a webhook not be asked
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon check --help` shows."""
    check_options.add_question(parser, several_releases=True)
    _strictness(parser.add_argument_group("what counts as a failure"))
    _looks(parser.add_argument_group("output"))
    parser.add_argument(
        "--jobs",
        type=count,
        default=0,
        metavar="N",
        help="processes that judge large inputs (default: as many as there are processors)",
    )


def _strictness(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fail-on",
        choices=("deny", "warning", "warn"),
        default="deny",
        help="`warning`, or `warn`: a warning fails like a denial (default: deny)",
    )
    group.add_argument(
        "--strict", action="store_true", help="notices (a policy matched nothing ...) are failures"
    )


def _looks(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-o", "--output", choices=CHECK.names, default="table", help="(default: table)"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="only what is refused")
    group.add_argument(
        "-v", "--verbose", action="count", default=0, help="every object, and audit annotations"
    )
    group.add_argument(
        "--show-mutations",
        action="store_true",
        help="each mutation by itself, not only what they come to",
    )
    group.add_argument(
        "--mutated-out",
        default="",
        metavar="DIR",
        help="write the objects that policies have changed there",
    )
    group.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR=1)")


def run(options: argparse.Namespace) -> Exit:
    """Read, judge, report."""
    with garbage_later() as loaded:
        code = _run(options, loaded)
    if options.is_process:
        leave(code)
    return code


def _run(options: argparse.Namespace, loaded: Callable[[], None]) -> Exit:
    from celadon.cli.check.check_run import check

    releases = options.kubernetes_version or ()
    options.kubernetes_version = releases[0] if releases else None
    progress = output.Progress("documents read:")
    inputs = check_options.check_inputs(options, progress.step, output.complain)
    loaded()
    if len(releases) > 1:
        return _compare(options, inputs, releases, progress)
    report = check(inputs, progress.started("objects checked:"))
    progress.done()
    unwritten = _unwritten(report, options.mutated_out) if options.mutated_out else ""
    output.show(report, CHECK, options)
    return output.failure(unwritten, Exit.OUTPUT) if unwritten else report.exit


def _unwritten(report: Report, folder: str) -> str:
    """Write the changed objects; return why that cannot be."""
    from celadon.cli.report.check_view import write_mutated

    try:
        write_mutated(report, folder)
    except OSError as error:
        return f"`{folder}` {output.unwritten(error)}"
    return ""


def _compare(
    options: argparse.Namespace,
    inputs: check_options.CheckInputs,
    releases: Sequence[str],
    progress: output.Progress,
) -> Exit:
    """Return what releases do not agree on."""
    from celadon.cli.check.upgrade_report import compared

    def settings_of(release: str) -> Settings:
        options.kubernetes_version = release
        return replace(check_options.judging_settings(options), now=inputs.settings.now)

    step = progress.started("objects checked:")
    report = compared(inputs, releases, options.policy, settings_of, step)
    progress.done()
    output.show(report, UPGRADE, options)
    return report.exit
