"""`celadon check`: judge manifests by admission policies, after those that change them."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.exits import Exit
from celadon.cli.file_option import POLICIES, add_files
from celadon.cli.garbage import garbage_later
from celadon.cli.option_values import count
from celadon.cli.release_option import add_version
from celadon.cli.suggestions import did_you_mean

if TYPE_CHECKING:
    from celadon.cli.checking.asking.answer_sources import AnswerSettings
    from celadon.cli.checking.judging.object_judging import Settings

OPERATIONS: Final = ("CREATE", "UPDATE", "DELETE", "CONNECT")
FIELD_VALIDATIONS: Final = ("Strict", "Warn", "Ignore")

DESCRIPTION: Final = """\
Judge manifests by ValidatingAdmissionPolicies, as kube-apiserver would, after
MutatingAdmissionPolicies have changed them.

RESOURCES are to be admitted. What is given with -f describes the cluster: policies and bindings,
and what they look up (params, namespaces, CustomResourceDefinitions, roles). Both may be files,
folders, globs, or - for standard input; YAML or JSON, any number of documents, and lists.
Policies, bindings and webhook configurations are recognised wherever they are. Webhooks are named,
and asked only if the options say how.
"""

EPILOG: Final = """\
examples:
  celadon check -f policies/ manifests/
  celadon check -f policies/ -f cluster/ 'apps/**/*.yaml' -o github
  helm template ./chart | celadon check -f policies/ -
  celadon check -f policies/ --operation UPDATE --old deployed.yaml changed.yaml
  celadon check -f policies/ --apply --old deployed.yaml manifests/
  celadon check -f policies/ --as alice --as-group developers pod.yaml

exit codes:
  0  everything was admitted
  1  something was denied, or is invalid
  2  wrong usage, or an input that cannot be read
  3  a policy could not be evaluated, or a webhook not be asked
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon check --help` shows."""
    parser.add_argument("resources", nargs="*", metavar="RESOURCES", help="what is to be admitted")
    add_files(parser, POLICIES, dest="cluster")
    parser.add_argument(
        "--admission-control-config-file",
        metavar="FILE",
        help="an AdmissionConfiguration: static policies and webhooks from the folders it names",
    )
    _parts(parser.add_argument_group("which document plays which part"))
    _question(parser.add_argument_group("what is asked"))
    _webhooks(parser.add_argument_group("webhooks"))
    _strictness(parser.add_argument_group("what counts as a failure"))
    _looks(parser.add_argument_group("output"))
    parser.add_argument(
        "--jobs",
        type=count,
        default=0,
        metavar="N",
        help="processes that judge large inputs (default: as many as there are processors)",
    )


def _parts(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--lookup",
        action="append",
        default=[],
        metavar="KIND[,KIND]",
        help="objects of these kinds are only looked up, even among RESOURCES",
    )
    group.add_argument(
        "--admit",
        action="append",
        default=[],
        metavar="KIND[,KIND]",
        help="objects of these kinds are to be admitted, even among -f",
    )
    group.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave out files of folders and globs that match, or whose folder does; may be "
        "repeated",
    )
    group.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="NAME",
        help="use only this policy; may be repeated",
    )


def _question(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--operation", choices=OPERATIONS, default="CREATE", type=str.upper)
    group.add_argument(
        "--apply",
        action="store_true",
        help="as `kubectl apply`: what is among --old or -f is patched, the rest created",
    )
    group.add_argument(
        "--old",
        action="append",
        default=[],
        metavar="PATH",
        help="the objects as they are now, for UPDATE and --apply; may be repeated",
    )
    group.add_argument("--as", dest="user", metavar="USER", help="the user who asks")
    group.add_argument(
        "--as-group", action="append", default=[], metavar="GROUP", help="a group of that user"
    )
    group.add_argument(
        "-n",
        "--namespace",
        default="default",
        metavar="NAME",
        help="for objects that do not say theirs (default: default)",
    )
    group.add_argument("--dry-run", action="store_true", help="ask as a dry run")
    group.add_argument(
        "--subresource",
        default="",
        metavar="NAME",
        help="e.g. status, scale, exec, or deployments/scale",
    )
    group.add_argument(
        "--no-defaulting",
        action="store_true",
        help="show policies the objects as they are in the files",
    )
    group.add_argument(
        "--no-validation",
        action="store_true",
        help="do not ask whether the API server would accept the objects at all",
    )
    group.add_argument(
        "--field-validation",
        choices=FIELD_VALIDATIONS,
        type=str.capitalize,
        help="what becomes of objects with fields that their kind does not have, or that are there "
        "twice: refused, warned about, or nothing (default: Strict, as in kubectl)",
    )
    add_version(group)


def _webhooks(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--webhook-answers",
        metavar="DIR",
        help="recorded AdmissionReviews that answer for webhooks: DIR/WEBHOOK[/KIND[/NAME]].yaml",
    )
    group.add_argument(
        "--call-webhooks",
        action="store_true",
        help="really call them: they get the objects, over the network",
    )
    group.add_argument(
        "--webhook-service",
        action="append",
        default=[],
        metavar="NAMESPACE/NAME[:PORT]=URL",
        help="where a service that webhooks are behind is reached; may be repeated",
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
        "-o", "--output", choices=output.FORMATS, default="table", help="(default: table)"
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
        return _run(options, loaded)


def _run(options: argparse.Namespace, loaded: Callable[[], None]) -> Exit:
    from celadon.cli.checking.check_run import check
    from celadon.cli.checking.manifests import Parts, gather, unknown_kind
    from celadon.cli.checking.policy_set import only, policy_sets
    from celadon.cli.reading.sources import Exclusion

    wrong = _wrong_use(options)
    if wrong:
        return output.usage_error("celadon check", wrong)
    try:
        cluster = [*options.cluster, *_static_files(options)]
    except ValueError as error:
        wrong = f"--admission-control-config-file: {error}"
        return output.usage_error("celadon check", wrong)
    progress = output.Progress("documents read:")
    parts = Parts.of(options.lookup, options.admit)
    manifests = gather(
        cluster, options.resources, options.old, parts, progress.step, Exclusion(options.exclude)
    )
    wrong = unknown_kind(parts, manifests)
    if wrong:
        return output.usage_error("celadon check", wrong)
    policies = policy_sets(manifests, options.kubernetes_version)
    for name in options.policy:
        if not any(name in found.policies or name in found.broken for found in policies.all):
            hint = did_you_mean(name, [one for found in policies.all for one in found.policies])
            return output.usage_error("celadon check", f"no policy `{name}`{hint}")
    if options.policy:
        policies = only(policies, options.policy)
    try:
        settings = _settings(options)
    except ValueError as error:
        return output.usage_error("celadon check", str(error))
    loaded()
    report = check(manifests, policies, settings, progress.started("objects checked:"))
    progress.done()
    verbosity = -1 if options.quiet else options.verbose
    if options.mutated_out:
        from celadon.cli.formats.mutated_files import write_mutated

        write_mutated(report, options.mutated_out)
    output.show_report(
        report,
        options.output,
        no_color=options.no_color,
        verbosity=verbosity,
        mutations=options.show_mutations,
    )
    return report.exit


def _static_files(options: argparse.Namespace) -> list[str]:
    """Raises ValueError."""
    if not options.admission_control_config_file:
        return []
    from celadon.cli.reading.static_folders import static_files

    return static_files(options.admission_control_config_file, options.kubernetes_version)


def _wrong_use(options: argparse.Namespace) -> str:
    if not (options.cluster or options.resources or options.admission_control_config_file):
        return "nothing to check: give policies with `-f`, and manifests"
    if options.operation == "UPDATE" and not options.old:
        return "`--operation UPDATE` needs the objects as they are now: give them with `--old`"
    if options.old and not (options.apply or options.operation == "UPDATE"):
        return "`--old` goes with `--operation UPDATE` or `--apply`"
    if options.apply and (options.operation != "CREATE" or options.subresource):
        return "`--apply` creates and updates whole objects: no `--operation`, no `--subresource`"
    if options.operation == "CONNECT" and not options.subresource:
        return "`--operation CONNECT` needs a `--subresource`, e.g. exec"
    if [*options.cluster, *options.resources, *options.old].count("-") > 1:
        return "standard input (`-`) can only be read once"
    if options.call_webhooks and options.webhook_answers:
        return "`--webhook-answers` and `--call-webhooks` exclude each other"
    if options.call_webhooks and importlib.util.find_spec("httpcore") is None:
        return "`--call-webhooks` needs a package more: pip install 'celadon[serve]'"
    if options.webhook_service and not options.call_webhooks:
        return "`--webhook-service` goes with `--call-webhooks`"
    if options.as_group and not options.user:
        return "`--as-group` goes with `--as`"
    return ""


def _settings(options: argparse.Namespace) -> Settings:
    from datetime import UTC, datetime

    from celadon.admission import ADMIN, Operation
    from celadon.cli.checking.judging.object_judging import Settings
    from celadon.cli.checking.questions import Question, user_info

    question = Question(
        operation=Operation(options.operation),
        applies=options.apply,
        subresource=options.subresource,
        namespace=options.namespace,
        user=user_info(options.user, options.as_group) if options.user else ADMIN,
        dry_run=options.dry_run,
        field_validation=options.field_validation or _field_validation(options),
    )
    return Settings(
        question=question,
        version=options.kubernetes_version,
        now=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        defaulting=not options.no_defaulting,
        validation=not options.no_validation,
        strict=options.strict,
        fail_on_warning=options.fail_on != "deny",
        jobs=options.jobs,
        webhooks=_answers(options),
    )


def _field_validation(options: argparse.Namespace) -> str:
    """Where nothing was said."""
    return "Ignore" if options.no_validation else "Strict"


def _answers(options: argparse.Namespace) -> AnswerSettings:
    """Raises ValueError."""
    from celadon.cli.checking.asking.answer_sources import AnswerSettings

    services = {}
    if options.webhook_service:
        from celadon.serve.transport import given_services

        services = given_services(options.webhook_service)
    return AnswerSettings(options.webhook_answers or "", options.call_webhooks, services)
