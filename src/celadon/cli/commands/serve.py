"""`celadon serve`: an API server with its policies enforced."""

from __future__ import annotations

import argparse
import functools
import gc
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from celadon import __version__, private_files
from celadon.cli import output
from celadon.cli.check.check_options import add_plugins
from celadon.cli.exit_codes import Exit
from celadon.cli.options import (
    add_certificate,
    add_plain_http,
    add_version,
    count,
    missing_package,
    seconds,
)
from celadon.cli.processes import leave
from celadon.kube.json_types import JsonObject

if TYPE_CHECKING:
    from celadon.apiserver import ProxySettings, SimulationSettings
    from celadon.apiserver.http import (
        PluginSettings,
        RequestLimits,
        Rotation,
        ServerSettings,
        Serving,
        TlsSettings,
    )
    from celadon.apiserver.operation import EffectiveVersion
    from celadon.storage.etcd import EtcdSettings

T = TypeVar("T")
G = TypeVar("G")

REQUESTS_SHOWN: Final = 3
"""What `-v` alone means."""

DESCRIPTION: Final = """\
Run a Kubernetes API server that enforces the admission policies that are stored in it. It keeps its
data in one file, or in memory.
"""

EPILOG: Final = """\
examples:
  celadon serve
  celadon serve --data cluster.db --kubeconfig-out kubeconfig
  celadon serve --listen 127.0.0.1:0 --manifests policies/ --audit-log audit.jsonl

needs: pip install 'celadon[serve]'

exit codes:
  0  the server was told to end (SIGTERM, Ctrl-C)
  2  the server could not start
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon serve --help` shows."""
    parser.add_argument(
        "--data",
        default=":memory:",
        metavar="FILE",
        help="where objects are kept; :memory: forgets them (default: :memory:)",
    )
    parser.add_argument(
        "--listen",
        default="127.0.0.1:6443",
        metavar="HOST:PORT",
        help="port 0 is any that is free (default: 127.0.0.1:6443)",
    )
    parser.add_argument("--kubeconfig-out", type=Path, metavar="PATH", help="write a kubeconfig")
    parser.add_argument(
        "-v",
        "--verbosity",
        type=count,
        nargs="?",
        const=REQUESTS_SHOWN,
        default=0,
        metavar="N",
        help="what is logged: 0 problems and reloads, 3 requests (-v alone), at most 5",
    )
    _add_etcd(parser.add_argument_group("objects in etcd, for several servers"))
    _add_content(parser.add_argument_group("what is served"))
    plugins = parser.add_argument_group("admission plugins")
    add_plugins(plugins)
    plugins.add_argument(
        "--admission-control-config-file",
        type=Path,
        metavar="FILE",
        help="an AdmissionConfiguration: what plugins are told beside",
    )
    plugins.add_argument(
        "--webhook-service",
        action="append",
        default=[],
        metavar="NAMESPACE/NAME[:PORT]=HOST:PORT",
        help="where a Service behind webhooks is reached; may be repeated",
    )
    _add_access(parser.add_argument_group("who may come in, and how"))
    _add_controllers(parser.add_argument_group("controllers"))
    _add_simulation(parser.add_argument_group("a cluster that comes alive"))
    _add_limits(parser.add_argument_group("limits (0 is none)"))
    _add_audit(parser.add_argument_group("audit log"))


def _add_etcd(group: argparse._ArgumentGroup) -> None:
    """Add the options for etcd, named as those of kube-apiserver."""
    group.add_argument("--etcd-servers", metavar="URLS", help="instead of --data; with commas")
    for name, text in (
        ("--etcd-cafile", "authorities of the members' certificates"),
        ("--etcd-certfile", "the certificate to show them"),
        ("--etcd-keyfile", "the key of that certificate"),
    ):
        group.add_argument(name, type=Path, metavar="FILE", help=text)
    group.add_argument(
        "--etcd-prefix",
        default="/registry",
        metavar="PREFIX",
        help="what the keys of objects begin with (default: /registry)",
    )
    group.add_argument(
        "--credentials",
        type=Path,
        metavar="FOLDER",
        help="where keys are kept, the same ones for all servers (default: beside the data)",
    )


def _add_content(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--manifests",
        action="append",
        default=[],
        metavar="PATH",
        help="create these objects at the start: a file or a folder; may be repeated",
    )
    group.add_argument(
        "--watch-manifests", action="store_true", help="follow what changes in the manifests"
    )
    group.add_argument(
        "--runtime-config",
        default="",
        metavar="CONFIG",
        help="versions to serve or not: api/all=true, api/beta=true, GROUP/VERSION=false, ...",
    )
    group.add_argument(
        "--feature-gates",
        action="append",
        default=[],
        metavar="GATES",
        help="NAME=true|false, ... as for kube-apiserver; may be repeated",
    )
    group.add_argument(
        "--event-ttl",
        type=seconds,
        default=3600.0,
        metavar="DURATION",
        help="how long events are kept; 0s: for ever (default: 1h)",
    )
    group.add_argument(
        "--service-cluster-ip-range",
        default="10.0.0.0/24",
        metavar="CIDR",
        help="where Services get their addresses from (default: 10.0.0.0/24)",
    )
    group.add_argument(
        "--service-ca-config-map",
        default="",
        metavar="NAME",
        help="mount it beside the tokens of pods (OpenShift: openshift-service-ca.crt)",
    )
    group.add_argument(
        "--openapi-descriptions",
        type=Path,
        metavar="PATH",
        help="texts of built-in types: swagger.json, or OpenAPI v3 documents "
        "(default: those of the Python package `kubernetes`, if it is installed)",
    )
    _add_release(group)


def _add_release(group: argparse._ArgumentGroup) -> None:
    add_version(group)
    for name, text in (
        ("--emulated-version", "emulate this release, at most three older"),
        ("--min-compatibility-version", "use nothing in CEL that this release does not know"),
    ):
        group.add_argument(
            name, action="append", default=[], metavar="VERSION", help=f"1.35 or kube=1.35: {text}"
        )


def _add_access(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--token-auth-file",
        type=Path,
        metavar="FILE",
        help='lines of token,user,uid,"group1,group2"',
    )
    group.add_argument(
        "--client-ca-file", type=Path, metavar="FILE", help="authorities of client certificates"
    )
    add_certificate(group)
    group.add_argument(
        "--anonymous-auth",
        choices=("true", "false"),
        default="true",
        help="whether requests without credentials come in, as system:anonymous (default: true)",
    )
    group.add_argument(
        "--authorization-mode",
        choices=("RBAC", "Node,RBAC", "AlwaysAllow"),
        default="RBAC",
        help="whether roles say who may do what, before them what kubelets need of pods on their "
        "node, or everybody may do everything (default: RBAC)",
    )
    group.add_argument(
        "--service-account-issuer",
        action="append",
        default=[],
        metavar="URL",
        help="of tokens of service accounts; tokens of further ones are taken, too "
        "(default: https://kubernetes.default.svc)",
    )
    group.add_argument(
        "--service-account-signing-key-file",
        type=Path,
        metavar="FILE",
        help="what signs those tokens, instead of a made key",
    )
    group.add_argument(
        "--service-account-key-file",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="more keys that may have signed them; may be repeated",
    )
    _add_front_proxy(group)
    add_plain_http(group)


def _add_front_proxy(group: argparse._ArgumentGroup) -> None:
    """Add the options for front proxies, named as those of kube-apiserver."""
    for name, text in (
        ("--proxy-client-cert-file", "the certificate to show to extension servers"),
        ("--proxy-client-key-file", "the key of that certificate"),
        ("--requestheader-client-ca-file", "authorities of front proxies"),
    ):
        group.add_argument(name, type=Path, metavar="FILE", help=text)
    for name, text in (
        ("allowed-names", "common names of front proxies"),
        ("username-headers", "headers with the name of who asks"),
        ("uid-headers", "... with the uid"),
        ("group-headers", "... with a group"),
        ("extra-headers-prefix", "what headers with more about who asks begin with"),
    ):
        group.add_argument(
            f"--requestheader-{name}",
            action="append",
            default=[],
            metavar="NAMES",
            help=f"{text}; with commas",
        )


def _add_controllers(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--controllers",
        default="*",
        metavar="LIST",
        help="which run: names, -names, * for those that run by default (default: *)",
    )
    group.add_argument(
        "--garbage-collection-lag",
        type=seconds,
        default=0.5,
        metavar="DURATION",
        help="how long deleted owners keep their finalizer at least (default: 500ms)",
    )


def _add_simulation(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--simulate",
        choices=("workloads",),
        help="run what a cluster runs, but for programs: its controllers, a scheduler, kubelets",
    )
    group.add_argument(
        "--nodes",
        type=count,
        default=1,
        metavar="N",
        help="how many nodes there are at the start (default: 1)",
    )
    group.add_argument(
        "--pods-ready-after",
        type=seconds,
        default=1.0,
        metavar="DURATION",
        help="how long a container takes until it is ready (default: 1s)",
    )
    group.add_argument(
        "--pods-run-for",
        type=seconds,
        default=1.0,
        metavar="DURATION",
        help="how long a container takes that is to end, as those of Jobs (default: 1s)",
    )


def _add_audit(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--audit-log", type=Path, metavar="FILE", help="events as JSON lines")
    for name, text in (
        ("--audit-log-maxsize", "megabytes before a new file is begun (default: 100)"),
        ("--audit-log-maxage", "days that old files are kept (default: for ever)"),
        ("--audit-log-maxbackup", "old files that are kept (default: all)"),
    ):
        group.add_argument(name, type=count, default=0, metavar="N", help=text)
    group.add_argument("--audit-policy-file", type=Path, metavar="FILE", help="what is recorded")


def _add_limits(group: argparse._ArgumentGroup) -> None:
    """Add the limits, with the defaults of kube-apiserver."""
    for name, most, text in (
        ("--max-requests-inflight", 400, "requests at once that read"),
        ("--max-mutating-requests-inflight", 200, "requests at once that change something"),
        ("--max-watches", 10_000, "watches at once"),
        ("--min-request-timeout", 1800, "seconds a watch lasts, up to twice as long"),
    ):
        group.add_argument(
            name, type=count, default=most, metavar="N", help=f"{text} (default: {most})"
        )
    group.add_argument(
        "--enable-priority-and-fairness",
        choices=("true", "false"),
        default="true",
        help="FlowSchemas and priority levels say who waits (default: true)",
    )
    group.add_argument(
        "--request-timeout",
        type=seconds,
        default=60.0,
        metavar="DURATION",
        help="for an answer (default: 1m)",
    )
    group.add_argument(
        "--shutdown-delay-duration",
        type=seconds,
        default=0.0,
        metavar="DURATION",
        help="how long to go on, not ready, when told to end (default: 0s)",
    )


def run(options: argparse.Namespace) -> Exit:
    """Serve until told to end."""
    missing = missing_package(on_etcd=bool(options.etcd_servers))
    if missing:
        return output.failure(missing)
    gc.disable()  # until the server is ready: a tenth of its start, and nothing to be found
    from celadon.apiserver.http import StartError
    from celadon.apiserver.http import run as run_server

    try:
        settings = _settings(options)
        output.log_to_stderr(options.verbosity, "celadon.apiserver")
        ended = functools.partial(leave, Exit.OK) if options.is_process else _stay
        run_server(settings, lambda serving: _announce(serving, settings), ended)
    except StartError as error:
        return output.failure(str(error))
    finally:
        gc.enable()
    return Exit.OK


def _stay() -> None:
    """Stay: the process has more to do."""


def _announce(serving: Serving, settings: ServerSettings) -> None:
    for warning in serving.warnings:
        output.complain(f"warning: {warning}")
    result = "nothing is kept" if serving.credentials is None else f"keys in {serving.credentials}"
    emulated = settings.effective.emulation if settings.effective else settings.version
    release = settings.version + (f" as {emulated}" if emulated != settings.version else "")
    output.write(
        f"celadon {__version__} serves Kubernetes {release} at {serving.url}\n"
        f"data: {_place(settings)} ({result})\n"
        f"try: kubectl --kubeconfig {serving.kubeconfig} get namespaces\n"
    )


def _place(settings: ServerSettings) -> str:
    if settings.etcd is None:
        return settings.data
    return ", ".join(map(str, settings.etcd.endpoints))


def _settings(options: argparse.Namespace) -> ServerSettings:
    """Return the settings of the server. Raises StartError."""
    from celadon.apiserver.http import (
        ServerSettings,
        controllers_named,
        given_services,
        parse_address,
        runtime_config,
    )

    # First: what gates, plugins and served versions there are depends on the release.
    effective = _effective_version(options)
    listen = _read("--listen", options.listen, parse_address)
    named = functools.partial(controllers_named, pods_run=bool(options.simulate))
    controllers = _read("--controllers", options.controllers, named)
    served = _read("--runtime-config", options.runtime_config, runtime_config)
    services = _read("--webhook-service", options.webhook_service, given_services)
    gates = _gates(options, effective)
    settings = _told(options.admission_control_config_file, gates)
    manifests = _ManifestFiles(options.manifests)
    return ServerSettings(
        data=options.data,
        etcd=_etcd(options),
        credentials=options.credentials,
        listen=listen,
        tls=_tls(options),
        kubeconfig_out=options.kubeconfig_out,
        token_file=options.token_auth_file,
        issuers=tuple(options.service_account_issuer),
        signing_key=options.service_account_signing_key_file,
        token_keys=tuple(options.service_account_key_file),
        anonymous=options.anonymous_auth == "true",
        allows_everything=options.authorization_mode == "AlwaysAllow",
        authorizes_nodes=options.authorization_mode == "Node,RBAC",
        service_addresses=options.service_cluster_ip_range,
        audit_log=options.audit_log,
        audit_policy=options.audit_policy_file,
        audit_rotation=_rotation(options),
        version=effective.binary,
        effective=effective,
        gates=gates,
        runtime_config=served,
        service_ca_config_map=options.service_ca_config_map,
        plugins=_plugins(options, settings.configured),
        plugin_settings=settings,
        webhook_services=services,
        front_proxy=_front_proxy(options),
        manifests=tuple(manifests.read()),
        read_manifests=manifests.read if options.watch_manifests else None,
        limits=_limits(options),
        shutdown_delay=options.shutdown_delay_duration,
        controllers=controllers,
        collection_lag=options.garbage_collection_lag,
        # `--event-ttl=0` keeps Events for good, as with kube-apiserver.
        event_seconds=math.ceil(options.event_ttl) or None,
        simulation=_simulation(options),
        openapi_descriptions=options.openapi_descriptions,
    )


def _rotation(options: argparse.Namespace) -> Rotation:
    """Return when the audit log is rotated."""
    from celadon.apiserver.http import Rotation

    return Rotation(
        options.audit_log_maxsize, options.audit_log_maxage, options.audit_log_maxbackup
    )


def _gates(options: argparse.Namespace, effective: EffectiveVersion) -> Mapping[str, bool]:
    """Return the feature gates. Raises StartError."""
    from celadon.apiserver.http import feature_gates

    of_release = functools.partial(
        feature_gates, version=effective.binary, emulated=effective.emulation
    )
    return _read("--feature-gates", ",".join(options.feature_gates), of_release)


def _simulation(options: argparse.Namespace) -> SimulationSettings | None:
    from celadon.apiserver import SimulationSettings

    if options.simulate is None:
        return None
    return SimulationSettings(options.nodes, options.pods_ready_after, options.pods_run_for)


def _effective_version(options: argparse.Namespace) -> EffectiveVersion:
    """Return the release that the server is, and make it the current one from now on. Raises
    StartError."""
    from celadon.apiserver.http import StartError
    from celadon.apiserver.operation import effective_version
    from celadon.kube.releases import enter_release

    try:
        effective = effective_version(
            options.kubernetes_version, options.emulated_version, options.min_compatibility_version
        )
    except ValueError as error:
        raise StartError(str(error)) from None
    enter_release(effective.binary, effective.min_compatibility, effective.emulation)
    return effective


def _tls(options: argparse.Namespace) -> TlsSettings:
    """Return the settings of TLS. Raises StartError."""
    from celadon.apiserver.http import StartError, TlsSettings

    # kube-apiserver refuses half of a pair, too; made-up halves would hide the mistake.
    if (options.tls_cert_file is None) != (options.tls_private_key_file is None):
        raise StartError("`--tls-cert-file` and `--tls-private-key-file` belong together")
    return TlsSettings(
        options.tls_cert_file,
        options.tls_private_key_file,
        options.client_ca_file,
        plain=options.plain_http or options.force_plain_http,
        force_plain=options.force_plain_http,
    )


def _front_proxy(options: argparse.Namespace) -> ProxySettings:
    """Return the settings of the front proxy. Raises StartError."""
    from celadon.apiserver import ProxySettings
    from celadon.apiserver.http import StartError
    from celadon.kube.x509 import bundle_fault, key_pair_fault

    if (options.proxy_client_cert_file is None) != (options.proxy_client_key_file is None):
        raise StartError("`--proxy-client-cert-file` and `--proxy-client-key-file` belong together")
    path = options.requestheader_client_ca_file
    if path is not None and (fault := bundle_fault(_content(path))):
        raise StartError(f"`{path}`: {fault}")
    certificate, key = options.proxy_client_cert_file, options.proxy_client_key_file
    if certificate is not None:
        # Said at the start, not when the first extension server is called.
        fault = key_pair_fault(_content(certificate), _content(key))
        if fault:
            raise StartError(f"`{certificate}` and `{key}`: {fault}")

    def names(items: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for item in items if item for name in item.split(","))

    settings = ProxySettings(
        certificate,
        key,
        path,
        names(options.requestheader_allowed_names),
        names(options.requestheader_username_headers),
        names(options.requestheader_uid_headers),
        names(options.requestheader_group_headers),
        names(options.requestheader_extra_headers_prefix),
    )
    if fault := settings.fault:
        raise StartError(fault)
    return settings


def _content(path: Path) -> bytes:
    """Return the content of a file. Raises StartError."""
    from celadon.apiserver.http import StartError

    try:
        return private_files.content(path)
    except OSError as error:
        raise StartError(f"`{path}`: {error.strerror}") from None


def _etcd(options: argparse.Namespace) -> EtcdSettings | None:
    """Return the settings of etcd. Raises StartError."""
    from celadon.apiserver.http import MEMORY, StartError

    if not options.etcd_servers:
        return None
    from celadon.storage.etcd import EtcdSettings, parse_endpoints

    if options.data != MEMORY:
        raise StartError("`--etcd-servers` and `--data` are two places for the same objects")
    if options.credentials is None:
        raise StartError("`--etcd-servers` needs `--credentials`, with the same keys everywhere")
    if (options.etcd_certfile is None) != (options.etcd_keyfile is None):
        raise StartError("`--etcd-certfile` and `--etcd-keyfile` belong together")
    return EtcdSettings(
        _read("--etcd-servers", options.etcd_servers, parse_endpoints),
        options.etcd_cafile,
        options.etcd_certfile,
        options.etcd_keyfile,
        prefix=options.etcd_prefix.rstrip("/"),
    )


def _limits(options: argparse.Namespace) -> RequestLimits:
    from celadon.apiserver.http import RequestLimits

    return RequestLimits(
        options.max_requests_inflight,
        options.max_mutating_requests_inflight,
        options.max_watches,
        options.request_timeout,
        options.min_request_timeout,
        options.enable_priority_and_fairness == "true",
    )


def _told(path: Path | None, gates: Mapping[str, bool]) -> PluginSettings:
    """Return what a configuration file says of the plugins. Raises StartError."""
    from celadon.apiserver.http import PluginSettings, StartError, read_admission_file

    if path is None:
        return PluginSettings()
    try:
        reader = functools.partial(read_admission_file, gates=gates)
        return _read("--admission-control-config-file", path, reader)
    except OSError as error:
        raise StartError(f"`{error.filename}`: {error.strerror}") from None


def _plugins(options: argparse.Namespace, configured: frozenset[str]) -> frozenset[str]:
    """Return the names that two options leave. Raises StartError."""
    from celadon.apiserver.http import StartError
    from celadon.kube.resources import UnusablePlugins, enabled_plugins

    enabled, disabled = (
        [name for words in item for name in words.split(",") if name]
        for item in (options.enable_admission_plugins, options.disable_admission_plugins)
    )
    try:
        return enabled_plugins(enabled, disabled, configured)
    except UnusablePlugins as error:
        raise StartError(str(error)) from None


def _read(option: str, argument: G, reader: Callable[[G], T]) -> T:
    """Read the argument of an option. Raises StartError."""
    from celadon.apiserver.http import StartError

    try:
        return reader(argument)
    except ValueError as error:
        raise StartError(f"{option}: {error}") from None


class _ManifestFiles:
    """Objects in files and folders, read again only when a file is another one."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths
        self._signature: object = None
        self._documents: Sequence[tuple[str, JsonObject]] = ()

    def read(self) -> Sequence[tuple[str, JsonObject]]:
        """Return the manifests with their places. Raises StartError."""
        if not self._paths:
            return ()
        from celadon.cli.reading.documents import signatures

        current = signatures(self._paths)
        if current != self._signature:
            self._documents = tuple(_manifests(self._paths))
            self._signature = current
        return self._documents


def _manifests(paths: list[str]) -> Iterator[tuple[str, JsonObject]]:
    """Objects with their places. Raises StartError."""
    from celadon.apiserver.http import StartError
    from celadon.cli.project_config import read_manifests, summary
    from celadon.cli.reading.documents import Problem

    problems: list[Problem] = []
    for read_manifest in read_manifests(paths, problems):
        if isinstance(read_manifest, Problem):
            raise StartError(read_manifest.text())
        yield read_manifest.position(), read_manifest.value
    if problems:
        output.complain(f"notice: {summary(problems).partition(';')[0]}")
