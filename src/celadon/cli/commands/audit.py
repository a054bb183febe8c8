"""`celadon audit`: what exists already, against policies that are not there yet."""

from __future__ import annotations

import argparse
import glob
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.check import check_options
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import (
    POLICIES,
    add_exclude,
    add_files,
    add_version,
    asks_cluster,
    count,
    lacking_client,
)
from celadon.cli.project_config import add_project, use_project
from celadon.cli.reading.documents import Problem
from celadon.cli.report.report_model import AUDIT, FLEET, UPGRADE_AUDIT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from celadon.cli.audit.audit_report import AuditReport, FailOn, FleetReport, Violation
    from celadon.cli.audit.audit_run import Audit
    from celadon.cli.audit.cluster_audit import ClusterCopy
    from celadon.cli.audit.object_audit import AuditSettings
    from celadon.cli.check.manifests import Manifests
    from celadon.cli.check.upgrade_report import UpgradeReport

_DEFAULT_RESULTS: Final = 10_000

DESCRIPTION: Final = """\
Find existing objects that ValidatingAdmissionPolicies would refuse, as kube-apiserver would if the
objects were created now, or updated to what they are.

The source is a cluster, a backup of its etcd, or SOURCES are dumps: JSON lines, what
`kubectl get -o json` and `-o yaml` print, folders, backups of Velero (.tar.gz); packed with gzip or
not, or - for standard input. What is given with -f are policies and bindings, and what they look up
beyond what the source has (namespaces, params, definitions). The server's built-in plugins
(PodSecurity, LimitRanger, Priority ...) are asked, too; ResourceQuota is not, since its quotas
count what exists already. The report says who could not be asked.
"""

EPILOG: Final = """\
examples:
  celadon audit -f policies/ backup.tar.gz --summary-by namespace
  kubectl get deployments,pods -A -o json | celadon audit -f policies/ -
  celadon audit -f policies/ dump.jsonl -o jsonl > violations.jsonl
  celadon audit -f policies/ --context staging -o json
  celadon audit --library pod-security-restricted --from-cluster
  celadon audit --library dump.jsonl
  celadon audit --etcd-snapshot backup.db --kubernetes-version 1.31..1.34

exit codes:
  0  no object would be denied
  1  an object would be denied; with several releases: a later one would deny what the oldest does
     not, does not serve a version that is in use, or cannot read what is stored
  2  wrong usage, or an input that cannot be read
  3  a policy is broken, or could not be evaluated
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon audit --help` shows."""
    parser.add_argument("sources", nargs="*", metavar="SOURCES", help="dumps of what exists")
    add_files(parser, POLICIES)
    add_library(parser)
    add_exclude(parser)
    _cluster(parser.add_argument_group("a cluster as the source"))
    _snapshot(parser.add_argument_group("a backup of etcd as the source"))
    add_fleet(parser.add_argument_group("a fleet of sources"))
    _question(parser.add_argument_group("what is asked"))
    _strictness(parser.add_argument_group("what counts as a failure"))
    _looks(parser.add_argument_group("output"))
    add_project(parser)
    parser.add_argument(
        "--jobs",
        type=count,
        default=0,
        metavar="N",
        help="processes that audit (default: as many as there are processors)",
    )


def _cluster(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--from-cluster", action="store_true", help="audit the cluster of the current context"
    )
    group.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="audit the cluster of this kubeconfig"
    )
    group.add_argument(
        "--context", default="", metavar="NAME", help="audit the cluster of this context"
    )


def _snapshot(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--etcd-snapshot",
        action="append",
        default=[],
        metavar="FILE",
        help="what `etcdctl snapshot save` has written, or the database of a stopped member;"
        " may be repeated",
    )
    group.add_argument(
        "--etcd-prefix",
        default="/registry",
        metavar="PREFIX",
        help="where the API server keeps its objects in it (default: /registry)",
    )


def _question(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--operation",
        choices=("CREATE", "UPDATE"),
        default="CREATE",
        type=str.upper,
        help="UPDATE: an update that changes nothing (default: CREATE)",
    )
    group.add_argument(
        "--as",
        dest="user",
        metavar="USER",
        help="the user who asks (default: admin, of the group system:masters)",
    )
    group.add_argument(
        "--as-group", action="append", default=[], metavar="GROUP", help="a group of that user"
    )
    group.add_argument(
        "--no-defaulting",
        action="store_true",
        help="give no defaults to manifests, which have no uid",
    )
    add_version(group, default=None, several=True)
    check_options.add_plugins(group)
    check_options.add_conversion_calls(group)


def _strictness(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fail-on",
        choices=("deny", "violation", "never"),
        default="deny",
        help="`violation`: what would only be warned about or audited fails too (default: deny)",
    )
    group.add_argument(
        "--strict", action="store_true", help="notices (a policy matched nothing ...) are failures"
    )


def _looks(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-o", "--output", choices=AUDIT.names, default="table", help="(default: table)"
    )
    group.add_argument(
        "--summary-by",
        type=_grouping,
        default="policy",
        metavar="policy|namespace|label=KEY",
        help="count by this too (default: policy)",
    )
    group.add_argument(
        "--max-results",
        type=count,
        default=_DEFAULT_RESULTS,
        metavar="N",
        help="violations that are reported; the others are counted. JSON lines have all of them "
        f"(default: {_DEFAULT_RESULTS})",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="only numbers and notices")
    group.add_argument("-v", "--verbose", action="count", default=0, help="every violation")
    group.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR=1)")


def _grouping(text: str) -> str:
    if text in ("policy", "namespace") or (text.startswith("label=") and text != "label="):
        return text
    raise argparse.ArgumentTypeError(f"`{text}` is none of policy, namespace, label=KEY")


def run(options: argparse.Namespace) -> Exit:
    """Read, audit, report."""
    from celadon.cli.audit.audit_inputs import given_inputs
    from celadon.cli.audit.audit_report import FailOn
    from celadon.cli.audit.audit_run import Audit, audit_inputs
    from celadon.cli.check.check_options import read_policies
    from celadon.cli.check.check_report import NoticeReason
    from celadon.cli.check.manifests import policy_sets

    releases = options.kubernetes_version or ()
    options.kubernetes_version = releases[0] if releases else None
    library = library_files(options)
    project = use_project(options, output.complain)
    options.files = [*(project if library is None else library), *options.files]
    settings = _settings(options)
    wrong = _wrong_use(options, several=len(releases) > 1)
    if wrong:
        raise WrongUseError(wrong)
    progress = output.Progress("objects audited:")
    manifests = read_policies(options, output.complain, strict=options.strict)
    if len(releases) > 1:
        return _compare(options, releases, manifests, progress)
    lines = options.output == "jsonl"
    audit = Audit(
        manifests,
        policy_sets(manifests, options.kubernetes_version),
        settings,
        strict=options.strict,
        fail_on=FailOn(options.fail_on),
        step=progress.share,
        emit=_write_line if lines else None,
    )
    if options.fleet:
        whole = audited_fleet(all_violations(audit, options), options)
        progress.done()
        output.show(whole, FLEET, options)
        return whole.exit
    if asks_cluster(options):
        report = _cluster_report(audit, options)
    else:
        inputs = given_inputs(options.sources, options.etcd_snapshot, options.etcd_prefix)
        report = audit_inputs(audit, inputs)
    progress.done()
    if options.library is not None:  # nobody expects a cluster to have something for each of them
        report = report.without(NoticeReason.POLICY_UNMATCHED)
    output.show(report, AUDIT, options)
    return report.exit


def _compare(
    options: argparse.Namespace,
    releases: Sequence[str],
    manifests: Manifests,
    progress: output.Progress,
) -> Exit:
    """Return what releases do not agree on."""
    from celadon.cli.audit.audit_inputs import given_inputs
    from celadon.cli.audit.audit_report import FailOn
    from celadon.cli.audit.audit_run import Audit, audit_inputs, compared_audit, uses_of_inputs
    from celadon.cli.check.manifests import policy_sets

    fail_on = FailOn(options.fail_on)

    def audit_of(release: str, emit: Callable[[Violation], None]) -> Audit:
        options.kubernetes_version = release
        return Audit(
            manifests,
            policy_sets(manifests, release),
            _settings(options),
            strict=options.strict,
            fail_on=fail_on,
            step=progress.share,
            emit=emit,
        )

    if asks_cluster(options):
        report = _compared_cluster(options, releases, audit_of, fail_on)
    else:
        inputs = given_inputs(options.sources, options.etcd_snapshot, options.etcd_prefix)
        uses = uses_of_inputs(inputs, options.jobs)
        report = compared_audit(
            releases,
            lambda release, emit: audit_inputs(audit_of(release, emit), inputs),
            uses,
            fail_on=fail_on,
        )
    progress.done()
    output.show(report, UPGRADE_AUDIT, options)
    return report.exit


def _compared_cluster(
    options: argparse.Namespace,
    releases: Sequence[str],
    audit_of: Callable[[str, Callable[[Violation], None]], Audit],
    fail_on: FailOn,
) -> UpgradeReport:
    """Return the report. The cluster is asked for each list once. Raises WrongUseError."""
    from celadon.cli.audit.audit_run import compared_audit
    from celadon.cli.audit.cluster_audit import ClusterCopy, uses_of_cluster
    from celadon.cli.cluster_options import chosen_cluster

    with ClusterCopy() as copy:
        location = chosen_cluster(options.kubeconfig, options.context)
        uses, problems = uses_of_cluster(location, copy)
        return compared_audit(
            releases,
            lambda release, emit: _cluster_report(audit_of(release, emit), options, copy),
            uses,
            problems,
            fail_on,
        )


def _write_line(violation: Violation) -> None:
    """Write a line of JSON lines, while the audit goes on."""
    from celadon.cli.report.audit_view import violation_line

    output.write(violation_line(violation))


def _cluster_report(
    audit: Audit, options: argparse.Namespace, copy: ClusterCopy | None = None
) -> AuditReport:
    """Audit a cluster. Raises WrongUseError."""
    import asyncio

    from celadon.cli.audit.cluster_audit import audit_cluster
    from celadon.cli.cluster_options import chosen_cluster

    location = chosen_cluster(options.kubeconfig, options.context)
    if not options.state:
        return asyncio.run(audit_cluster(audit, location, None, copy))
    from celadon.cli.audit.fleet_parts import KeptResults
    from celadon.cli.audit.fleet_run import KeptPages, audit_identity

    identity = audit_identity(audit.manifests, audit.settings)
    try:
        memory = KeptPages(KeptResults(options.state), identity, location.cluster.server)
        return asyncio.run(audit_cluster(audit, location, memory, copy))
    except OSError as error:
        raise WrongUseError(f"`{options.state}` cannot be written: {error.strerror}") from None


def _wrong_use(options: argparse.Namespace, *, several: bool) -> str:
    if not options.files and not several:
        return "no policies: give them with `-f`, or take some with `--library`"
    if several and (options.fleet or options.state):
        return "several releases go neither with `--fleet` nor with `--state`"
    if several and options.output not in UPGRADE_AUDIT.names:
        return f"several releases are not reported as `{options.output}`"
    wrong = wrong_fleet_use(options)
    if wrong:
        return wrong
    sources = [
        *options.sources,
        *options.etcd_snapshot,
        *([options.fleet] if options.fleet else []),
    ]
    if not (sources or asks_cluster(options)):
        return "nothing to audit: give dumps, or a cluster with `--from-cluster`"
    if len(sources) > 1 and options.fleet:
        return "either a fleet or other sources"
    if sources and asks_cluster(options):
        return "either dumps or a cluster"
    if asks_cluster(options) and lacking_client():
        return lacking_client()
    if options.state and not (options.fleet or asks_cluster(options)):
        return "`--state` goes with a cluster, or with `--fleet`"
    if [*options.files, *options.sources].count("-") > 1:
        return "standard input (`-`) can only be read once"
    if options.as_group and not options.user:
        return "`--as-group` goes with `--as`"
    if options.call_conversion_webhooks and options.fleet:
        return "`--call-conversion-webhooks` does not go with `--fleet`"
    return check_options.wrong_calls(options)


def _settings(options: argparse.Namespace) -> AuditSettings:
    """Return the settings of the audit. Raises WrongUseError."""
    import sys
    from datetime import UTC, datetime

    from celadon.admission import ADMIN, Operation
    from celadon.cli.audit.object_audit import AuditSettings
    from celadon.cli.check.document_requests import user_info

    return AuditSettings(
        operation=Operation(options.operation),
        user=user_info(options.user, options.as_group) if options.user else ADMIN,
        version=options.kubernetes_version,
        now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        summary_by=options.summary_by,
        limit=sys.maxsize if options.output == "jsonl" else options.max_results,
        defaulting=not options.no_defaulting,
        jobs=options.jobs,
        plugins=tuple(sorted(check_options.chosen_plugins(options).names)),
        conversions=check_options.conversion_services(options),
    )


# --- Policies of the library -------------------------------------------------


def add_library(parser: argparse.ArgumentParser) -> None:
    """Policies that nobody has installed."""
    parser.add_argument(
        "--library",
        nargs="*",
        metavar="NAME",
        help="policies of `celadon library`, by name or topic, instead of the project's; without a "
        "name all whose params have values for every cluster. Words that are neither are SOURCES",
    )


def library_files(options: argparse.Namespace) -> list[str] | None:
    """Return the files of the policies that `--library` chooses, None without the option, and give
    back to the sources what it names of these. Raises WrongUseError."""
    if options.library is None:
        return None
    from celadon.cli.library import chosen, library, topics_of, unknown_name

    policies = library()
    names = {*policies, *topics_of(policies.values())}
    sources = [word for word in options.library if word not in names]
    for word in sources:
        if word != "-" and not glob.has_magic(word) and not Path(word).exists():
            raise WrongUseError(f"{unknown_name(word)}; and no such file")
    options.sources = [*sources, *options.sources]
    words = [word for word in options.library if word in names]
    result = chosen(policies, words) if words else list(policies.values())
    left_out = [policy.name for policy in result if policy.own and policy.name not in words]
    if left_out:
        output.complain(
            "not asked, since their params are yours to choose (ask them by name): "
            + ", ".join(left_out)
        )
    return [str(policy.policy_file) for policy in result if policy.name not in left_out]


# --- Fleets ------------------------------------------------------------------
#
# The options of `celadon audit` that are about fleets, and what they come to.


def add_fleet(group: argparse._ArgumentGroup) -> None:
    """Declare the options for many sources at once."""
    group.add_argument("--fleet", metavar="FILE", help="sources by name, of kind Fleet")
    group.add_argument(
        "--on",
        default="",
        metavar="ADDRESS",
        help="where the work is done: dask://HOST:PORT, the scheduler of a Dask cluster "
        "(default: here, see --jobs)",
    )
    group.add_argument(
        "--state",
        default="",
        metavar="DIR",
        help="keep results in this folder; the same command goes on where it was stopped (with a "
        "cluster as the source, too)",
    )
    group.add_argument(
        "--violations",
        default="",
        metavar="FILE",
        help="write all violations to a .jsonl or .parquet file while they are found",
    )


def wrong_fleet_use(options: argparse.Namespace) -> str:
    """Return what does not go together; empty if all does."""
    option_names = [name for name in ("on", "violations") if getattr(options, name)]
    if not options.fleet:
        return f"`--{option_names[0]}` goes with `--fleet`" if option_names else ""
    if options.output not in FLEET.names:
        return f"a fleet is reported as {', '.join(FLEET.names)}, not as {options.output}"
    if options.violations and not options.violations.endswith((".jsonl", ".parquet")):
        return f"`{options.violations}`: expected a name that ends with .jsonl or .parquet"
    if options.violations and options.output == "jsonl":
        return "violations go either to a file or, as JSON lines, to standard output"
    return ""


def audited_fleet(audit: Audit, options: argparse.Namespace) -> FleetReport:
    """Return the report. Raises WrongUseError for options or a folder that cannot be used."""
    from celadon.cli.audit.audit_report import FleetReport
    from celadon.cli.audit.fleet_parts import KeptResults, NothingKept, read_fleet
    from celadon.cli.audit.fleet_run import FleetAudit, audit_fleet, engine_for
    from celadon.cli.report.audit_view import violation_file

    fleet = read_fleet(options.fleet)
    if isinstance(fleet, list):
        return FleetReport((), tuple(fleet))
    emit = _write_line_of if options.output == "jsonl" else None
    try:
        memory = KeptResults(options.state) if options.state else NothingKept()
        file = violation_file(options.violations) if options.violations else None
        engine = engine_for(options.on, options.jobs)
    except OSError as error:
        raise WrongUseError(output.of_file(error)) from None
    try:
        return audit_fleet(
            FleetAudit(audit, fleet, engine, memory, emit if file is None else file.write)
        )
    except OSError as error:  # of the folder or the file: what sources raise is in their reports
        wrong = Problem(options.violations or options.state, 0, output.unwritten(error))
        return FleetReport((), (wrong,))
    finally:
        engine.close()
        if file is not None:
            file.close()


def all_violations(audit: Audit, options: argparse.Namespace) -> Audit:
    """Return an audit with no limit of violations where each is written at once."""
    import sys

    if not options.violations:
        return audit
    return replace(audit, settings=replace(audit.settings, limit=sys.maxsize))


def _write_line_of(source: str, violation: Violation) -> None:
    """Write a line of JSON lines, while the audit goes on."""
    from celadon.cli.report.audit_view import fleet_violation_line

    output.write(fleet_violation_line(source, violation))
