"""`celadon webhook`: an admission webhook that enforces policies, or is written in Python."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon import __version__, private_files
from celadon.cli import cluster_options, output
from celadon.cli.check.check_options import add_conversion_calls, wrong_calls
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import (
    DEFAULT_VERSION,
    POLICIES,
    add_certificate,
    add_files,
    add_plain_http,
    add_version,
    count,
    missing_package,
    seconds,
)

if TYPE_CHECKING:
    import ssl

    from celadon.apiserver.http import Address
    from celadon.webhook.review_decisions import WatchedFiles
    from celadon.webhook.service import DecisionLogSettings, ServedCertificate, WebhookSettings

_REQUESTS_SHOWN: Final = 3
_SAYS: Final = f"celadon {__version__}"
_OF_POLICIES: Final = ("audit_only", "events", "decision_log", "decision_log_objects")
_ON_ITS_OWN: Final = ("tls_cert_file", "ca_out", "plain_http", "force_plain_http")
"""Of a certificate that is in no Secret."""
_ENCRYPTED: Final = ("tls_cert_file", "ca_out", "client_ca_file")
_LEAST: Final[Mapping[str, tuple[float, str]]] = {
    "max_staleness": (5.0, "5s"),
    "review_timeout": (0.1, "100ms"),
    "max_review_bytes": (1024, "1024"),
}
"""With less nothing would ever be decided."""

DESCRIPTION: Final = """\
Run an admission webhook that enforces ValidatingAdmissionPolicies and MutatingAdmissionPolicies,
for clusters without them. An API server posts AdmissionReviews (v1 or v1beta1) to /validate and to
/mutate, and gets the answers that its own policies would give.
"""

EPILOG: Final = """\
examples:
  celadon webhook -f policies/
  celadon webhook -f policies/ -f params.yaml --tls-cert-file tls.crt --tls-private-key-file tls.key
  celadon webhook -f policies/ --audit-only --decision-log -
  celadon webhook --from-cluster --self-signed-secret tls --webhook-configuration celadon
  celadon webhook --app rules:app --tls-cert-file tls.crt --tls-private-key-file tls.key

needs: pip install 'celadon[serve]'

exit codes:
  0  the webhook was told to end (SIGTERM, Ctrl-C)
  2  the webhook could not start
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon webhook --help` shows."""
    add_files(parser, f"{POLICIES}: a file or a folder")
    parser.add_argument(
        "--app",
        default="",
        metavar="MODULE:NAME",
        help="serve an ASGI application, one of `celadon.webhook` say, in place of policies",
    )
    parser.add_argument(
        "--audit-only", action="store_true", help="deny nothing: denials become warnings"
    )
    parser.add_argument(
        "-v",
        "--verbosity",
        type=count,
        nargs="?",
        const=_REQUESTS_SHOWN,
        default=0,
        metavar="N",
        help="what is logged: 0 problems and reloads, 3 requests (-v alone), at most 5",
    )
    add_version(parser, default=None, usual=f"that of the cluster, else {DEFAULT_VERSION}")
    cluster_options.add_cluster(parser.add_argument_group("the cluster"))
    add_conversion_calls(parser.add_argument_group("conversion webhooks"))
    network = parser.add_argument_group("network")
    _add_network(network)
    cluster_options.add_certificates(network)
    _add_log(parser.add_argument_group("decision log"))
    _add_limits(parser.add_argument_group("limits"))


def _add_network(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--listen",
        default="0.0.0.0:8443",
        metavar="HOST:PORT",
        help="port 0 is any that is free (default: 0.0.0.0:8443)",
    )
    add_certificate(group)
    group.add_argument(
        "--ca-out", type=Path, metavar="FILE", help="write what callers should trust: the caBundle"
    )
    group.add_argument(
        "--client-ca-file",
        type=Path,
        metavar="FILE",
        help="take reviews only from callers with a certificate of these authorities",
    )
    add_plain_http(group)


def _add_log(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--decision-log", metavar="FILE", help="a JSON line for each decision; - is standard output"
    )
    group.add_argument(
        "--decision-log-sample",
        type=_part,
        default=1.0,
        metavar="PART",
        help="the part of plain admissions that is logged, from 0 to 1 (default: 1)",
    )
    group.add_argument(
        "--decision-log-objects",
        action="store_true",
        help="log whole objects, Secrets without their values",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--max-reviews-inflight",
        type=count,
        default=400,
        metavar="N",
        help="reviews that wait or are decided at once; 0 is no limit (default: 400)",
    )
    group.add_argument(
        "--max-review-bytes",
        type=count,
        default=7 << 20,
        metavar="N",
        help="the largest review (default: 7340032)",
    )
    group.add_argument(
        "--review-timeout",
        type=seconds,
        default=10.0,
        metavar="DURATION",
        help="for an answer, if the caller does not ask for less (default: 10s)",
    )
    group.add_argument(
        "--shutdown-delay-duration",
        type=seconds,
        default=5.0,
        metavar="DURATION",
        help="how long to go on, not ready, when told to end (default: 5s)",
    )


def _part(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 0 to 1")
    return number


def run(options: argparse.Namespace) -> Exit:
    """Serve until told to end."""
    missing = missing_package()
    if missing:
        return output.failure(missing)
    problem = _contradiction(options)
    if problem:
        raise WrongUseError(problem)
    from celadon.apiserver.http import StartError
    from celadon.webhook.review_decisions import LoadError
    from celadon.webhook.service import run_webhook

    output.log_to_stderr(options.verbosity, "celadon.webhook")
    try:
        parts = _cluster_parts(options)
        settings = _settings(options, parts)
        if options.app:
            _run_application(options.app, settings)
        elif parts is not None and parts.policies is not None:
            text = f"policies of the cluster{_audit_only(options)}"
            run_webhook(settings, parts.policies, lambda url: _announce(url, text))
        else:
            source = _source(options, parts)
            source.start()
            run_webhook(
                settings,
                source,
                lambda url: _announce(url, _counted(source) + _audit_only(options)),
            )
    except LoadError as error:
        for problem in error.problems:
            output.complain(f"error: {problem}")
        return Exit.USAGE
    except StartError as error:
        return output.failure(str(error))
    return Exit.OK


def _contradiction(options: argparse.Namespace) -> str:
    """Return what of the options does not go together; empty if all does."""
    data = {"-f": options.files, "--from-cluster": options.from_cluster, "--app": options.app}
    named = [f"`{name}`" for name, value in data.items() if value]
    if not named:
        return "no policies: give them with `-f`, or take them `--from-cluster`"
    if len(named) > 1:
        return f"{' and '.join(named)} exclude each other"
    if options.app:
        for name in _OF_POLICIES:
            if getattr(options, name):
                return f"{_option(name)} is for policies, not for `--app`"
    for name, (least, text) in _LEAST.items():
        if getattr(options, name) < least:
            return f"{_option(name)} is at least {text}"
    return _unheeded(options)


def _unheeded(options: argparse.Namespace) -> str:
    """Return which option would be passed over because of others, or because they are missing."""
    secret = next((secret for secret in cluster_options.SECRETS if getattr(options, secret)), "")
    plain = next(
        (name for name in ("plain_http", "force_plain_http") if getattr(options, name)), ""
    )
    for other, excluded in ((secret, _ON_ITS_OWN), (plain, _ENCRYPTED)):
        for name in excluded if other else ():
            if getattr(options, name):
                return f"{_option(name)} and {_option(other)} exclude each other"
    sampled = options.decision_log_objects or options.decision_log_sample != 1
    if sampled and options.decision_log is None:
        name = "decision_log_objects" if options.decision_log_objects else "decision_log_sample"
        return f"{_option(name)} goes with `--decision-log`"
    missing = cluster_options.missing_beside(options)
    if missing is None:
        return wrong_calls(options)
    name, expected = missing
    return f"{_option(name)} goes with {' or '.join(map(_option, expected))}"


def _option(name: str) -> str:
    return f"`--{name.replace('_', '-')}`"


def _run_application(name: str, settings: WebhookSettings) -> None:
    """Run a webhook that is written in Python. Raises StartError."""
    from celadon.webhook.applications import named_application, run_application

    application = named_application(name)
    run_application(
        settings, application, lambda url: output.complain(f"{_SAYS} serves {name} at {url}")
    )


def _announce(url: str, policies: str) -> None:
    output.complain(f"{_SAYS} answers reviews at {url}/validate: {policies}")


def _audit_only(options: argparse.Namespace) -> str:
    return "; nothing is denied" if options.audit_only else ""


def _counted(source: WatchedFiles) -> str:
    from celadon.cli.report.report_model import plural

    rules = source.rulebook()
    if rules is None:
        return ""
    return f"{plural(rules.policies, 'policy')}, {plural(rules.bindings, 'binding')}"


def _cluster_parts(options: argparse.Namespace) -> cluster_options.ClusterParts | None:
    """Return the parts that the cluster has of the webhook; None where nothing of it is wanted.
    Raises StartError."""
    if not cluster_options.uses_cluster(options):
        return None
    from celadon.apiserver.http import trust_clients

    authorities = options.client_ca_file

    def prepare(context: ssl.SSLContext) -> None:
        if authorities is not None:
            trust_clients(context, authorities)

    return cluster_options.cluster_parts(options, prepare)


def _source(
    options: argparse.Namespace, parts: cluster_options.ClusterParts | None
) -> WatchedFiles:
    """Files are read again when the cluster answers as another release."""
    from celadon.cli.check.policy_loading import PolicyLoader
    from celadon.cli.reading.documents import signatures
    from celadon.webhook.review_decisions import WatchedFiles

    def release() -> str:
        followed = None if parts is None else parts.release
        return options.kubernetes_version or (followed.version if followed else DEFAULT_VERSION)

    load = PolicyLoader(options.files, release, cluster_options.conversion_caller(options))
    return WatchedFiles(load, lambda: (release(), signatures(options.files)))


def _settings(
    options: argparse.Namespace, parts: cluster_options.ClusterParts | None
) -> WebhookSettings:
    """Return the settings of the webhook. Raises StartError."""
    from celadon.apiserver.http import StartError, parse_address
    from celadon.webhook.service import WebhookSettings

    try:
        listen = parse_address(options.listen)
    except ValueError as error:
        raise StartError(f"--listen: {error}") from None
    certificate = None if parts is None else parts.certificate
    return WebhookSettings(
        listen=listen,
        certificate=_certificate(options, listen) if certificate is None else certificate,
        audit_only=options.audit_only,
        decision_log=_decision_log(options),
        in_flight=options.max_reviews_inflight,
        body_bytes=options.max_review_bytes,
        seconds=options.review_timeout,
        shutdown_delay=options.shutdown_delay_duration,
        known_callers=options.client_ca_file is not None,
        denied=None if parts is None else parts.denied,
        beside=() if parts is None else parts.beside,
        waits_for=() if parts is None else parts.waits_for,
        remarks=() if parts is None else parts.remarks,
        families=() if parts is None else parts.families,
    )


def _certificate(options: argparse.Namespace, listen: Address) -> ServedCertificate | None:
    """Return the source of the certificate. Raises StartError."""
    from celadon.apiserver.http import StartError, TlsSettings
    from celadon.webhook.service import certificate_of, write_trusted

    if (options.tls_cert_file is None) != (options.tls_private_key_file is None):
        raise StartError("`--tls-cert-file` and `--tls-private-key-file` belong together")
    tls = TlsSettings(
        options.tls_cert_file,
        options.tls_private_key_file,
        options.client_ca_file,
        plain=options.plain_http or options.force_plain_http,
        force_plain=options.force_plain_http,
    )
    for exposed in private_files.exposures((tls.key,)):
        output.complain(f"warning: {exposed}")
    certificate = certificate_of(tls, listen)
    if options.ca_out is not None and certificate is not None:
        write_trusted(certificate, options.ca_out)
    return certificate


def _decision_log(options: argparse.Namespace) -> DecisionLogSettings | None:
    from celadon.webhook.service import DecisionLogSettings

    decision_log = options.decision_log
    if decision_log is None:
        return None
    path = None if decision_log == "-" else Path(decision_log)
    return DecisionLogSettings(path, options.decision_log_sample, options.decision_log_objects)
