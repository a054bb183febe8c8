"""The options with which `celadon check` and `celadon explain` are asked the same question; among
them an AdmissionConfiguration, which names files of static policies.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon.admission.plugins import PluginSettings
from celadon.admission.plugins.admission_configuration import BadConfiguration, plugin_settings
from celadon.admission.static_manifests import STATIC_PLUGINS, ManifestError, StaticDocument, load
from celadon.cli.check.manifests import (
    Manifests,
    Parts,
    PolicySets,
    gather,
    only,
    policy_sets,
    unknown_kind,
)
from celadon.cli.check.object_judging import Settings
from celadon.cli.exit_codes import WrongUseError
from celadon.cli.options import POLICIES, add_exclude, add_files, add_version, did_you_mean
from celadon.cli.project_config import add_project, summary, use_project
from celadon.cli.reading import documents
from celadon.kube.go import Document as GoDocument
from celadon.kube.go import quote
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.check.conversion_calls import Services
    from celadon.cli.check.plugins import PluginChoice
    from celadon.cli.check.webhook_answers import AnswerSettings


# --- Static policies and webhooks --------------------------------------------
#
# The files of static policies and webhooks that an AdmissionConfiguration names.
#
# `--admission-control-config-file` of kube-apiserver: `static_files` heeds the folders of static
# manifests, `told_plugins` all else. A folder that a server could not load is a reason not to go
# on. What is read from these files plays its part by its names, as if it were given with `-f`.


def static_files(path: str, version: str) -> list[str]:
    """Return the files in all folders. Raises ValueError, whose text is upstream's where upstream
    has one."""
    settings = told_plugins(path)
    result = []
    for name, folder in settings.static_folders.items():
        files = _files(folder)
        plugin = STATIC_PLUGINS[name]
        try:
            load((document for file in files for document in _documents(file)), plugin, version)
        except ManifestError as error:
            subject = f"failed to load static {plugin.content} manifests"
            raise ManifestError(f"{subject} from {quote(folder)}: {error}") from None
        result += files
    return result


def told_plugins(path: str) -> PluginSettings:
    """Return what the file tells all plugins. Raises ValueError."""
    document = _only(path)
    try:
        return plugin_settings(
            document,
            lambda named: _only(str(Path(path).parent / named)),
            lambda folder: "" if os.path.isdir(folder) else "must be a directory",
            gated=True,
        )
    except BadConfiguration as error:
        raise BadConfiguration(f"`{path}`: {error}") from None


def _only(path: str) -> object:
    """Return the one document in a file."""
    first = next(_read(path), None)
    return None if first is None else first.value


def _files(folder: str) -> list[str]:
    certificates = (
        path for path in Path(folder).iterdir() if path.suffix.lower() in documents.EXTENSIONS
    )
    return [str(path) for path in sorted(certificates) if path.is_file()]


def _documents(file: str) -> Iterator[StaticDocument]:
    for document in _read(file):
        yield StaticDocument(file, GoDocument(document.value))


def _read(file: str) -> Iterator[documents.Document]:
    text = documents.read_text(file)
    for item in (
        [text] if isinstance(text, documents.Problem) else documents.DocumentReader().read(text)
    ):
        if isinstance(item, documents.Problem):
            raise ManifestError(item.text())
        yield item


# --- Plugin options ----------------------------------------------------------
#
# `--enable-admission-plugins` and `--disable-admission-plugins`, as kube-apiserver has them.


def add_plugins(group: argparse._ArgumentGroup) -> None:
    """Declare the options that choose plugins."""
    for name, text in (("enable", "beside the default ones"), ("disable", "of the default ones")):
        group.add_argument(
            f"--{name}-admission-plugins",
            action="append",
            default=[],
            metavar="NAMES",
            help=f"{name} these, {text}, separated by commas",
        )


def chosen_plugins(
    options: argparse.Namespace,
    settings: PluginSettings | None = None,
    *,
    whole_cluster: bool = False,
) -> PluginChoice:
    """Return the plugins that the options leave; `settings` are what a file says of them. Raises
    WrongUseError."""
    from celadon.cli.check.plugins import plugin_choice

    try:
        return plugin_choice(
            options.enable_admission_plugins,
            options.disable_admission_plugins,
            settings,
            whole_cluster=whole_cluster,
        )
    except ValueError as error:
        raise WrongUseError(str(error)) from None


OPERATIONS: Final = ("CREATE", "UPDATE", "DELETE", "CONNECT")
FIELD_VALIDATIONS: Final = ("Strict", "Warn", "Ignore")


def add_question(parser: argparse.ArgumentParser, *, several_releases: bool = False) -> None:
    """Declare all that says what is judged, by what, and in which circumstances."""
    parser.add_argument("resources", nargs="*", metavar="RESOURCES", help="what is to be admitted")
    add_files(parser, POLICIES, dest="cluster")
    parser.add_argument(
        "--admission-control-config-file",
        metavar="FILE",
        help="an AdmissionConfiguration: what plugins are told, and static policies and webhooks "
        "from the folders it names",
    )
    _add_parts(parser.add_argument_group("which document plays which part"))
    _add_circumstances(parser.add_argument_group("what is asked"), several=several_releases)
    _add_plugins(parser.add_argument_group("built-in admission plugins"))
    _add_webhooks(parser.add_argument_group("webhooks"))
    add_project(parser)


def _add_parts(group: argparse._ArgumentGroup) -> None:
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
    add_exclude(group)
    group.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="NAME",
        help="use only this policy; may be repeated",
    )


def _add_circumstances(group: argparse._ArgumentGroup, *, several: bool) -> None:
    group.add_argument(
        "--operation",
        choices=OPERATIONS,
        default="CREATE",
        type=str.upper,
        help="what becomes of the objects; UPDATE needs --old (default: CREATE)",
    )
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
    group.add_argument(
        "--as", dest="user", metavar="USER", help="the user who asks (default: an administrator)"
    )
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
    group.add_argument("--dry-run", action="store_true", help="request.dryRun is true")
    group.add_argument(
        "--subresource",
        default="",
        metavar="NAME",
        help="e.g. status, scale, exec, or deployments/scale",
    )
    group.add_argument(
        "--no-defaulting",
        action="store_true",
        help="show policies the objects of the files; no validation, no plugins",
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
    add_version(group, default=None, several=several)


def _add_plugins(group: argparse._ArgumentGroup) -> None:
    group.description = (
        "All that a server asks by default are asked, PodSecurity, LimitRanger and ResourceQuota "
        "among them, as far as the files say what they look at; the report says who could not be "
        "asked. EventRateLimit and ImagePolicyWebhook need more than files."
    )
    add_plugins(group)
    group.add_argument(
        "--whole-cluster",
        action="store_true",
        help="the files are all there is: namespaces, classes and accounts that they lack are not "
        "there (default: the cluster may have them)",
    )
    group.add_argument(
        "--no-generated-pods",
        dest="creates",
        action="store_false",
        help="do not judge the Pods, Jobs and ReplicaSets that controllers would create",
    )


def _add_webhooks(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--webhook-answers",
        metavar="DIR",
        help="recorded AdmissionReviews that answer for webhooks: DIR/WEBHOOK[/KIND[/NAME]].yaml",
    )
    group.add_argument(
        "--call-webhooks",
        action="store_true",
        help="really call them, those of conversion too: they get the objects, over the network",
    )
    add_conversion_calls(group)


# --- Conversion webhooks -----------------------------------------------------
#
# Nobody is called unless asked for: a run in a pipeline sends nothing over the network, and is
# the same tomorrow.


def add_conversion_calls(group: argparse._ArgumentGroup) -> None:
    """Declare the options about conversion webhooks."""
    group.add_argument(
        "--call-conversion-webhooks",
        action="store_true",
        help="call the conversion webhooks of CustomResourceDefinitions, where policies would see "
        "objects in another version (default: such objects are not judged, and a notice says so)",
    )
    group.add_argument(
        "--webhook-service",
        action="append",
        default=[],
        metavar="NAMESPACE/NAME[:PORT]=URL",
        help="where a Service behind webhooks is reached; may be repeated",
    )


def wrong_calls(options: argparse.Namespace, *more_names: str) -> str:
    """Return what options about calls do not go together; empty if all do. `more_names` are further
    options that call webhooks."""
    names = [name for name in (*more_names, "call_conversion_webhooks") if getattr(options, name)]
    flags = [f"`--{name.replace('_', '-')}`" for name in (*more_names, "call_conversion_webhooks")]
    if names and importlib.util.find_spec("httpcore") is None:
        flag = f"--{names[0].replace('_', '-')}"
        return f"`{flag}` needs a package more: pip install 'celadon[serve]'"
    if options.webhook_service and not names:
        return f"`--webhook-service` goes with {' or '.join(flags)}"
    return ""


def service_places(options: argparse.Namespace) -> Services:
    """Return where services are, as the options say. Raises WrongUseError."""
    if not options.webhook_service:
        return {}
    from celadon.apiserver.http import given_services

    try:
        return given_services(options.webhook_service)
    except ValueError as error:
        raise WrongUseError(str(error)) from None


def conversion_services(options: argparse.Namespace) -> Services | None:
    """Return the services if conversion webhooks are to be called; else None. Raises
    WrongUseError."""
    return service_places(options) if options.call_conversion_webhooks else None


def static_paths(options: argparse.Namespace) -> list[str]:
    """Return the files that an AdmissionConfiguration names. Raises WrongUseError."""
    if not options.admission_control_config_file:
        return []
    try:
        return static_files(options.admission_control_config_file, options.kubernetes_version)
    except ValueError as error:
        raise WrongUseError(f"--admission-control-config-file: {error}") from None


def wrong_use(options: argparse.Namespace) -> str:
    """Return what options do not go together; empty if all do."""
    if not (options.cluster or options.resources or options.admission_control_config_file):
        return (
            "nothing to check: give policies with `-f`, and manifests (`celadon init` writes some)"
        )
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
    if options.as_group and not options.user:
        return "`--as-group` goes with `--as`"
    return wrong_calls(options, "call_webhooks")


def judging_settings(options: argparse.Namespace) -> Settings:
    """Return what the options say about every object. Raises WrongUseError."""
    from datetime import UTC, datetime

    from celadon.admission import ADMIN, Operation
    from celadon.cli.check.document_requests import Question, user_info

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
        plugins=_plugins(options),
        creates=options.creates,
    )


def _plugins(options: argparse.Namespace) -> PluginChoice:
    """Return the plugins that are chosen. Raises WrongUseError."""
    configured = None
    if options.admission_control_config_file:
        configured = told_plugins(options.admission_control_config_file)
    return chosen_plugins(options, configured, whole_cluster=options.whole_cluster)


def _field_validation(options: argparse.Namespace) -> str:
    """Return where nothing was said."""
    return "Ignore" if options.no_validation else "Strict"


def _answers(options: argparse.Namespace) -> AnswerSettings:
    """Return the source of webhooks' answers. Raises WrongUseError."""
    from celadon.cli.check.webhook_answers import AnswerSettings

    calls = options.call_webhooks
    return AnswerSettings(
        options.webhook_answers or "",
        calls,
        service_places(options),
        calls or options.call_conversion_webhooks,
    )


# --- Check inputs ------------------------------------------------------------
#
# From the options of a command to what it is to judge, and by what.


@dataclass(frozen=True, slots=True)
class CheckInputs:
    """All documents by their part, the policies among them, and what is asked."""

    manifests: Manifests
    policies: PolicySets
    settings: Settings


def check_inputs(
    options: argparse.Namespace, step: Callable[[int], None], complain: Callable[[str], None]
) -> CheckInputs:
    """Read everything; `step` is told how many documents there are so far, and `complain` what the
    user should know of the configuration. WrongUseError."""
    options.cluster = [*use_project(options, complain), *options.cluster]
    wrong = wrong_use(options)
    if wrong:
        raise WrongUseError(wrong)
    cluster = [*options.cluster, *static_paths(options)]
    parts = Parts.of(options.lookup, options.admit)
    exclusion = documents.Exclusion(options.exclude)
    manifests = gather(cluster, options.resources, options.old, parts, step, exclusion)
    wrong = unknown_kind(parts, manifests)
    if wrong:
        raise WrongUseError(wrong)
    policies = chosen_policies(policy_sets(manifests, options.kubernetes_version), options.policy)
    return CheckInputs(manifests, policies, judging_settings(options))


def chosen_policies(policies: PolicySets, names: Sequence[str]) -> PolicySets:
    """Return the policies of these names; all, if there are none. Raises WrongUseError."""
    for name in names:
        if not any(
            name in policy_set.policies or name in policy_set.broken for policy_set in policies.all
        ):
            hint = did_you_mean(
                name, [policy for policy_set in policies.all for policy in policy_set.policies]
            )
            raise WrongUseError(f"no policy `{name}`{hint}")
    return only(policies, names) if names else policies


# --- Policy files ------------------------------------------------------------
#
# The policies that a command is about, with what they look up: the files of `-f` and of the
# project's configuration.


def read_policies(
    options: argparse.Namespace, complain: Callable[[str], None], *, strict: bool
) -> Manifests:
    """Return what the files say. Those of folders that are no manifests are errors for the
    `strict`, and complained of in one line to the others."""
    manifests = gather(
        options.files, (), (), Parts(), lambda _: None, documents.Exclusion(options.exclude)
    )
    if manifests.others and strict:
        manifests.problems += manifests.others
    elif manifests.others:
        complain(summary(manifests.others))
    return manifests
