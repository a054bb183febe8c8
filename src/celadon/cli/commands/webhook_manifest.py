"""`celadon webhook manifest`: what it takes to run a webhook in a cluster."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon import private_files
from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import POLICIES, add_exclude, add_files, add_version, count
from celadon.cli.project_config import add_project, add_verbose, use_project
from celadon.kube.json_types import JsonDict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celadon.cli.check.manifests import Manifests, PolicySets
    from celadon.webhook.installation import Coverage, InstallationSettings

DESCRIPTION: Final = """\
Print the manifests of `celadon webhook`: webhook configurations that cover just what the given
policies match, two replicas with what is around them, and the least rights they need.
"""

EPILOG: Final = """\
examples:
  celadon webhook manifest -f policies/ | kubectl apply -f -
  celadon webhook manifest -f policies/ --except ValidatingWebhookConfiguration
  celadon webhook manifest -f policies/ --certificates secret --ca-bundle ca.crt
  celadon webhook manifest --from-cluster --certificates cert-manager

exit codes:
  0  the manifests were printed
  2  wrong usage, or an input that cannot be read
  3  a policy that the API server would not accept
"""

POLICY_FILE: Final = "policies.yaml"
CONFIGURATIONS: Final = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
KINDS: Final = (
    "Namespace",
    *("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    *("ConfigMap", "Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"),
    *("ServiceMonitor", "Issuer", "Certificate"),
    *CONFIGURATIONS,
)
"""All that there can be; which of them there are is up to the options. Where they are applied one
after the other, a failure leaves no configuration without what stands before it."""
CANNOT_BE_ASKED: Final = (
    "the API server would refuse everything that it cannot ask the webhook about: give the "
    "authority of the Secret's certificate with `--ca-bundle`, or take `--certificates own` or "
    "`cert-manager`"
)
MOST_CONFIG_MAP_BYTES: Final = 1024 * 1024
"""What a ConfigMap may hold (k8s.io/kubernetes `pkg/apis/core/types.go`, MaxSecretSize)."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon webhook manifest --help` shows."""
    add_files(parser, POLICIES)
    add_exclude(parser)
    parser.add_argument(
        "--from-cluster",
        action="store_true",
        help="the webhook enforces the cluster's policies; those of -f only say what it is sent",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="KIND[,KIND]", help="print only these"
    )
    parser.add_argument(
        "--except", action="append", default=[], metavar="KIND[,KIND]", help="print all but these"
    )
    parser.add_argument(
        "-o",
        "--output",
        choices=("yaml", "json", "values"),
        default="yaml",
        help="`values` are for the Helm chart (default: yaml)",
    )
    add_version(parser, default=None)
    _add_place(parser.add_argument_group("the webhook"))
    _add_requests(parser.add_argument_group("what it is sent"))
    add_project(parser)
    add_verbose(parser)


def _add_place(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--name",
        default="celadon-webhook",
        metavar="NAME",
        help="of everything (default: celadon-webhook)",
    )
    group.add_argument(
        "-n",
        "--namespace",
        default="celadon",
        metavar="NAME",
        help="where it is (default: celadon)",
    )
    group.add_argument(
        "--no-namespace", action="store_true", help="no Namespace, which is there and yours to keep"
    )
    group.add_argument("--image", metavar="IMAGE", help="(default: celadon and its version)")
    group.add_argument("--replicas", type=count, default=2, metavar="N", help="(default: 2)")
    group.add_argument(
        "--certificates",
        choices=("secret", "cert-manager", "own"),
        default="own",
        help="a Secret NAME-tls that you keep, or cert-manager, or the webhook (default: own)",
    )
    group.add_argument(
        "--ca-bundle", type=Path, metavar="FILE", help="the authority of that certificate, PEM"
    )
    group.add_argument("--audit-only", action="store_true", help="deny nothing")
    group.add_argument("--events", action="store_true", help="denials become Events")
    group.add_argument(
        "--service-monitor",
        action="store_true",
        help="a ServiceMonitor, for clusters with the Prometheus operator",
    )


def _add_requests(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--failure-policy",
        choices=("Fail", "Ignore"),
        default="",
        help="if the webhook cannot be asked (default: what the policies say)",
    )
    group.add_argument(
        "--timeout",
        type=count,
        default=5,
        metavar="SECONDS",
        help="the API server waits so long, 1 to 30 (default: 5)",
    )
    group.add_argument(
        "--exclude-namespace",
        action="append",
        metavar="NAME",
        help="send nothing of this one; may be repeated (default: kube-system)",
    )
    group.add_argument(
        "--include-own-namespace",
        action="store_true",
        help="send what happens in the webhook's namespace, too, which can lock it out",
    )


def run(options: argparse.Namespace) -> Exit:
    """Read the policies, print the manifests."""
    from celadon.cli.check.check_options import read_policies
    from celadon.cli.check.manifests import policy_sets

    options.files = [*use_project(options, output.complain), *options.files]
    wrong = _wrong_use(options)
    if wrong:
        raise WrongUseError(wrong)
    manifests = read_policies(options, output.complain, strict=False)
    policies = policy_sets(manifests, options.kubernetes_version, unserved=True)
    errors = [error for policy_set in policies.all for error in policy_set.errors]
    for problem in manifests.problems:
        output.complain(f"error: {problem.text()}")
    for error in errors:
        output.complain(f"error: {error.place}: {error.message}")
    if manifests.problems:
        return Exit.USAGE
    if errors:
        return Exit.POLICY
    try:
        settings = _settings(options, policies)
    except OSError as failure:
        raise WrongUseError(output.of_file(failure)) from None
    return _printed(options, manifests, policies, settings)


def _wrong_use(options: argparse.Namespace) -> str:
    if not options.files and not options.from_cluster:
        return "no policies: give them with `-f`, or `--from-cluster`"
    if not 1 <= options.timeout <= 30:
        return "`--timeout` is 1 to 30 seconds"
    if options.audit_only and options.failure_policy == "Fail":
        return "`--audit-only` and `--failure-policy Fail` exclude each other"
    for option in ("only", "except"):
        unknown = sorted(_kinds(options, option) - set(map(str.lower, KINDS)))
        if unknown:
            return f"`--{option} {unknown[0]}`: there are {', '.join(KINDS)}"
    if options.events and not options.from_cluster:
        return "`--events` goes with `--from-cluster`"
    return ""


def _kinds(options: argparse.Namespace, option: str) -> set[str]:
    """Return the kinds that an option names, in lower case."""
    return {kind.lower() for words in getattr(options, option) for kind in words.split(",")}


def _is_printed(kind: str, options: argparse.Namespace) -> bool:
    only = _kinds(options, "only")
    return (not only or kind.lower() in only) and kind.lower() not in _kinds(options, "except")


def _settings(options: argparse.Namespace, policies: PolicySets) -> InstallationSettings:
    """Return the settings of the manifests. Raises OSError."""
    from celadon.webhook.installation import Certificates, InstallationSettings

    excluded = options.exclude_namespace
    bundle = options.ca_bundle
    return InstallationSettings(
        name=options.name,
        namespace=options.namespace,
        image=options.image or InstallationSettings().image,
        replicas=options.replicas,
        from_cluster=options.from_cluster,
        certificates=Certificates(options.certificates),
        ca_bundle="" if bundle is None else private_files.content(bundle).decode("ascii"),
        failure_policy=options.failure_policy,
        timeout_seconds=options.timeout,
        excluded_namespaces=("kube-system",) if excluded is None else tuple(excluded),
        excludes_own_namespace=not options.include_own_namespace,
        params=_params(policies),
        events=options.events,
        audit_only=options.audit_only,
        service_monitor=options.service_monitor,
    )


def _params(policies: PolicySets) -> tuple[str, ...]:
    """Return the resources of the policies' params."""
    from celadon.kube import GroupVersionKind, parse_api_version
    from celadon.kube.resources import guessed_resource, known_resources

    catalog = known_resources(all_versions=True)
    result = []
    for placed in (
        placed for policy_set in policies.all for placed in policy_set.policies.values()
    ):
        param = placed.value.spec.param_kind
        if param is not None:
            kind = GroupVersionKind(*parse_api_version(param.api_version), param.kind)
            resource = catalog.by_gvk(kind) or guessed_resource(kind)
            result.append(str(resource.gvr.group_resource))
    return tuple(sorted(set(result)))


def _printed(
    options: argparse.Namespace,
    manifests: Manifests,
    policies: PolicySets,
    settings: InstallationSettings,
) -> Exit:
    from celadon.goyaml import yaml_text
    from celadon.webhook.installation import (
        EVERYTHING,
        access_manifests,
        chart_values,
        coverages,
        namespace_manifests,
        workload_manifests,
    )

    covered, mutating = (
        coverages(
            (placed.value for placed in policy_set.policies.values()),
            (placed.value for placed in policy_set.bindings.values()),
        )
        for policy_set in (policies.validating, policies.mutating)
    )
    if not covered and not mutating and not options.from_cluster:
        raise WrongUseError("no policy with a binding is given")
    if not settings.from_cluster and any(
        manifest["kind"] == "Secret" for manifest in _given(manifests)
    ):
        raise WrongUseError(
            "a Secret among the files does not belong into a ConfigMap: use `--from-cluster`"
        )
    text = "---\n".join(yaml_text(manifest) for manifest in _given(manifests))
    if not settings.from_cluster and len(text.encode()) > MOST_CONFIG_MAP_BYTES:
        limit = f"the policies are too much for a ConfigMap, which holds {MOST_CONFIG_MAP_BYTES}"
        raise WrongUseError(f"{limit} bytes")
    if not covered and not mutating:
        covered = [EVERYTHING]
    policies_of = {
        settings.failure_policy_of(coverage.failure_policy) for coverage in (*covered, *mutating)
    }
    shows_configurations = any(_is_printed(kind, options) for kind in CONFIGURATIONS)
    if shows_configurations and "Fail" in policies_of and not settings.can_be_asked:
        raise WrongUseError(CANNOT_BE_ASKED)
    files = {POLICY_FILE: text}
    if options.output == "values":
        output.write(yaml_text(chart_values(settings, files, covered, mutating)))
        return Exit.OK
    documents = [
        *(() if options.no_namespace else namespace_manifests(settings)),
        *access_manifests(settings),
        *workload_manifests(settings, files),
        *_configurations(settings, covered, mutating),
    ]
    printed = [document for document in documents if _is_printed(document["kind"], options)]
    if options.output == "json":
        result = {"apiVersion": "v1", "kind": "List", "items": printed}
        output.write(json.dumps(result, indent=2) + "\n")
    else:
        output.write("---\n".join(yaml_text(manifest) for manifest in printed))
    return Exit.OK


def _configurations(
    settings: InstallationSettings, covered: list[Coverage], mutating: list[Coverage]
) -> Iterator[JsonDict]:
    from celadon.webhook.installation import policy_configuration

    if covered:
        yield policy_configuration(covered, settings)
    if mutating:
        yield policy_configuration(mutating, settings, mutating=True)


def _given(manifests: Manifests) -> list[dict[str, object]]:
    documents = (
        *(*manifests.policies, *manifests.bindings),
        *(*manifests.mutating_policies, *manifests.mutating_bindings),
        *(*manifests.looked_up, *manifests.admitted),
    )
    return [document.value for document in documents]
