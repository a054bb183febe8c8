"""`celadon migrate`: policies of Kyverno, Gatekeeper and Azure as policies of Kubernetes."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import DEFAULT_VERSION, asks_cluster, kubernetes_version, lacking_client
from celadon.cli.project_config import summary
from celadon.cli.report.report_model import MIGRATION, MIGRATION_PLAN, ReportStyle

if TYPE_CHECKING:
    from celadon.cli.migration.migration_plan import MigrationPlan
    from celadon.cli.migration.migration_run import Migration

_SOURCES: Final = ("audit-log", "webhook", "cluster")
"""Where requests come from of which the old engine's verdict is known."""

DESCRIPTION: Final = """\
Translate policies of Kyverno (ClusterPolicy, Policy, ValidatingPolicy, MutatingPolicy, with their
exceptions), of Gatekeeper (ConstraintTemplate with its constraints) and of Azure (definitions for
Kubernetes) into ValidatingAdmissionPolicies and MutatingAdmissionPolicies with their bindings, and
run the tests that come with them (kyverno-test.yaml, suites of gator) against the translation. A
rule is translated whole or not at all, and each rule that is not has its reason.

PATHS may be files, folders, globs, or - for standard input; CustomResourceDefinitions among them
tell which resources kinds are of. Needs jmespath: pip install 'celadon[migrate]'

With --plan, PATHS are dumps of a whole cluster, as `celadon audit` reads them, or the source is a
running cluster or a snapshot of its etcd: which policies are there, what can move and what not, in
which order, what exists that would be refused, and where the reports of the old engine say
something else. With -o, the files of the plan are written, in folders to apply one after the other.
"""

EPILOG: Final = """\
examples:
  celadon migrate policies/ -o translated/
  celadon migrate policies/ -o translated/ --warn --report html > report.html
  kubectl get clusterpolicies,policies -A -o yaml | celadon migrate -
  celadon migrate require-labels.yaml
  celadon migrate policies/ -o translated/ --against audit-log /var/log/kubernetes/audit/
  celadon migrate policies/ -o translated/ --against cluster manifests/ --context staging
  celadon migrate --plan dump.yaml -o plan/
  celadon migrate --plan --context staging --report html > plan.html

what is said of a rule:
  translated      and what its tests say, the translation says
  differs         a test expects something else: the object is named
  not translated  the reason is said, and what to use instead

exit codes:
  0  every rule was translated, and agrees with its tests
  1  a rule was not translated, or differs; of a plan: a rule stays, or the old engine's reports
     say something else
  2  wrong usage, or an input that cannot be read or an output that cannot be written
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon migrate --help` shows."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATHS", help="policies, and tests; dumps with --plan"
    )
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
    parser.add_argument(
        "--allow-existing",
        action="store_true",
        help="let what violates rules of Kyverno already be changed, as Kyverno does",
    )
    parser.add_argument(
        "--kubernetes-version",
        type=kubernetes_version,
        metavar="VERSION",
        help="the release that takes the translation: what it cannot say is not translated "
        f"(default: {DEFAULT_VERSION})",
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there")
    parser.add_argument(
        "--report",
        choices=MIGRATION.names,
        default="text",
        help="how to report, on standard error (standard output with -o) (default: text)",
    )
    parser.add_argument(
        "--against",
        nargs=2,
        action="append",
        default=[],
        metavar=("audit-log|webhook|cluster", "FILE"),
        help="requests, with what the old engine said of them: audit logs of API servers, "
        "AdmissionReviews that its webhook has answered, or objects that the cluster where it "
        "runs is sent as dry runs (nothing is written); may be repeated",
    )
    _plan(parser.add_argument_group("a plan for a cluster"))
    _cluster(parser.add_argument_group("the cluster of `--plan` and of `--against cluster`"))


def _plan(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--plan", action="store_true", help="plan for all that a cluster has")
    group.add_argument(
        "--etcd-snapshot",
        action="append",
        default=[],
        metavar="FILE",
        help="plan for a snapshot of etcd",
    )


def _cluster(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--from-cluster", action="store_true", help="plan for the cluster of the current context"
    )
    group.add_argument(
        "--kubeconfig", type=Path, metavar="FILE", help="the cluster of this kubeconfig"
    )
    group.add_argument("--context", default="", metavar="NAME", help="the cluster of this context")


def run(options: argparse.Namespace) -> Exit:
    """Read, translate, compare, write, report."""
    if importlib.util.find_spec("jmespath") is None:
        raise WrongUseError("jmespath is not installed: pip install 'celadon[migrate]'")
    wrong = _wrong_use(options)
    if wrong:
        raise WrongUseError(wrong)
    if options.plan:
        return _planned(options)
    from celadon.cli.migration.migration_run import Migration, migrated_files

    migration = Migration.of(options.paths, allows_existing=options.allow_existing)
    if options.against:
        _compare(migration, options)
    migration.lint()
    # Files of tests are read among all files, and once more as what a test names.
    for problem in dict.fromkeys(migration.problems):
        output.complain(f"error: {problem.text()}")
    if migration.others:
        output.complain(f"notice: {summary(migration.others, 'migrate')}")
    for text in migration.programs:
        output.complain(f"notice: {text}: not translated")
    if not migration.outcomes:
        raise WrongUseError("there is no policy of Kyverno, Gatekeeper or Azure in these files")
    files = dict(migrated_files(migration.outcomes, warns=options.warn))
    if options.output is None:
        output.write("---\n".join(files.values()))
    else:
        _write(options.output, files, force=options.force)
    write = output.complain if options.output is None else output.say
    if options.report == MIGRATION.for_people:
        write(MIGRATION.view_of(migration).text(ReportStyle()))
    else:
        write(MIGRATION.rendered(migration, options.report))
    if migration.problems:
        return Exit.USAGE
    is_whole = migration.count("translated") == len(migration.outcomes)
    return Exit.OK if is_whole else Exit.DENIED


def _compare(migration: Migration, options: argparse.Namespace) -> None:
    """Compare with what the old engine has said. Raises WrongUseError."""
    from celadon.cli.migration.engine_verdicts import compare_recorded

    if not _is_against_cluster(options):
        compare_recorded(migration, options.against)
        return
    from celadon.cli.cluster_options import chosen_cluster
    from celadon.cli.migration.engine_verdicts import answers_of_cluster

    location = chosen_cluster(options.kubeconfig, options.context)
    output.complain(f"dry runs are sent to {location.cluster.server}: nothing is written")
    progress = output.Progress("objects sent:")
    ask = functools.partial(answers_of_cluster, location, progress.step)
    compare_recorded(migration, options.against, ask)
    progress.done()


def _is_against_cluster(options: argparse.Namespace) -> bool:
    return any(kind == "cluster" for kind, _ in options.against)


def _wrong_use(options: argparse.Namespace) -> str:
    sources = [*options.paths, *options.etcd_snapshot]
    unknown = [kind for kind, _ in options.against if kind not in _SOURCES]
    if unknown:
        return f"`--against {unknown[0]}`: expected {', '.join(_SOURCES[:-1])} or {_SOURCES[-1]}"
    if not options.plan:
        return _wrong_sources(options)
    if options.against:
        return "`--against` does not go with `--plan`, which compares what exists"
    if options.warn:
        return "`--warn` does not go with `--plan`, which begins so"
    if not (sources or asks_cluster(options)):
        return "nothing to plan for: give dumps, or a cluster with `--from-cluster`"
    if sources and asks_cluster(options):
        return "either dumps or a cluster"
    return lacking_client() if asks_cluster(options) else ""


def _wrong_sources(options: argparse.Namespace) -> str:
    is_against = _is_against_cluster(options)
    if options.etcd_snapshot or (asks_cluster(options) and not is_against):
        return "a cluster and its backups go with `--plan`, a cluster with `--against cluster`, too"
    if not options.paths:
        return "no policies: give files or folders"
    return lacking_client() if is_against else ""


def _planned(options: argparse.Namespace) -> Exit:
    """Look, plan, write, report."""
    from celadon.cli.migration.migration_plan import Course
    from celadon.cli.migration.migration_run import staged_files

    plan = _plan_of(options)
    for problem in plan.problems:
        output.complain(f"error: {problem.text()}")
    if not plan.policies and not plan.problems:
        raise WrongUseError("there is no policy of Kyverno or Gatekeeper there")
    if options.output is not None:
        files = dict(staged_files(plan.outcomes))
        _write(options.output, files, force=options.force)
    if options.report == MIGRATION_PLAN.for_people:
        output.say(MIGRATION_PLAN.view_of(plan).text(ReportStyle()))
    else:
        output.say(MIGRATION_PLAN.rendered(plan, options.report))
    if plan.problems:
        return Exit.USAGE
    open_ends = (Course.DIVIDE, Course.LOOK, Course.STAY)
    return Exit.DENIED if any(policy.course in open_ends for policy in plan.policies) else Exit.OK


def _plan_of(options: argparse.Namespace) -> MigrationPlan:
    """Return the plan. Raises WrongUseError."""
    from celadon.cli.audit.audit_inputs import given_inputs
    from celadon.cli.migration.migration_plan import plan_of_cluster, plan_of_dumps

    allows = options.allow_existing
    progress = output.Progress("objects audited:")
    if not asks_cluster(options):
        inputs = given_inputs(options.paths, options.etcd_snapshot)
        plan = plan_of_dumps(inputs, progress.share, allows_existing=allows)
        progress.done()
        return plan
    from celadon.cli.cluster_options import chosen_cluster

    location = chosen_cluster(options.kubeconfig, options.context)
    plan = plan_of_cluster(location, progress.share, allows_existing=allows)
    progress.done()
    return plan


def _write(folder: str, files: dict[str, str], *, force: bool) -> None:
    """Write the files. Raises WrongUseError for what is in the way, and writes nothing then."""
    existing = [name for name in files if os.path.exists(os.path.join(folder, name))]
    if existing and not force:
        path = os.path.join(folder, existing[0])
        raise WrongUseError(f"`{path}` is there already: see `--force`")
    try:
        os.makedirs(folder, exist_ok=True)
        for name, content in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WrongUseError(f"`{folder}` cannot be written: {reason}") from None
