"""The pages of a server about itself: health (`/healthz`, `/livez`, `/readyz`), `/version`, pages
for debugging, documents of OpenID.

As k8s.io/apiserver `pkg/server/healthz`: whoever asks learns which check fails, but not why; only
the path of the single check says that.
"""

from __future__ import annotations

import json
import time
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from celadon.apiserver import negotiation
from celadon.apiserver.authn.service_account_tokens import SignerOnDemand
from celadon.apiserver.http_messages import JSON, HttpAnswer, HttpRequest, plain_text
from celadon.kube import status
from celadon.kube.go import quote
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since, parse_version, previous_minor
from celadon.records import dataclass

HOOKS: Final = (
    "start-apiserver-admission-initializer",
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "priority-and-fairness-filter",
    "storage-object-count-tracker-hook",
    "start-apiextensions-informers",
    "start-apiextensions-controllers",
    "crd-informer-synced",
    "start-system-namespaces-controller",
    "peer-endpoint-reconciler-controller",
    "start-cluster-authentication-info-controller",
    "start-kube-apiserver-identity-lease-controller",
    "start-kube-apiserver-identity-lease-garbage-collector",
    "storage-readiness",
    "start-legacy-token-tracking-controller",
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
    "start-kubernetes-service-cidr-controller",
    "aggregator-reload-proxy-client-cert",
    "start-kube-aggregator-informers",
    "apiservice-status-local-available-controller",
    "apiservice-status-remote-available-controller",
    "apiservice-registration-controller",
    "apiservice-status-available-controller",
    "apiservice-wait-for-first-sync",
    "apiservice-discovery-controller",
    "kube-apiserver-autoregistration",
    "autoregister-completion",
    "apiservice-openapi-controller",
    "apiservice-openapiv3-controller",
)
"""What kube-apiserver does after its start, as its checks are called and in their order. Here it is
done before the first request, or there is nothing to do."""

_NO_HOOK: Final = "autoregister-completion"
_HOOKS_SINCE: Final = {
    "apiservice-status-local-available-controller": "1.31",
    "apiservice-status-remote-available-controller": "1.31",
    "peer-endpoint-reconciler-controller": "1.36",
}
_HOOKS_UNTIL: Final = {"apiservice-status-available-controller": "1.31"}
_CONTROL_PLANE: Final = HOOKS.index("start-system-namespaces-controller")
_FIRST_IN_1_30: Final = (
    "start-service-ip-repair-controllers",
    "rbac/bootstrap-roles",
    "scheduling/bootstrap-system-priority-classes",
    "priority-and-fairness-config-producer",
    "start-system-namespaces-controller",
    "bootstrap-controller",
)
"""What came before all else of the control plane."""
_HOOKS_OF_GATES: Final = {
    "start-kubernetes-service-cidr-controller": "MultiCIDRServiceAllocator",
    "storage-readiness": "WatchCacheInitializationPostStartHook",
}


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The outcome of a check: `failure` is empty if all is well. A check of a group can be left
    out under the group's name, too. `silent`: it is not listed while all is well, as upstream has
    no such check."""

    name: str
    failure: str = ""
    group: str = ""
    silent: bool = False


def _ordered_hooks() -> Iterator[str]:
    if is_since("1.31"):
        yield from HOOKS
        return
    yield from HOOKS[:_CONTROL_PLANE]
    yield from _FIRST_IN_1_30
    yield from (hook for hook in HOOKS[_CONTROL_PLANE:] if hook not in _FIRST_IN_1_30)


def checks_of(
    root: str, trouble: str, unwritable: str, ending: str, has_gate: Callable[[str], bool]
) -> tuple[HealthCheck, ...]:
    """Return the checks below a path of health, in upstream's order. `trouble` is what is wrong
    with the store, `unwritable` why it takes no more writes, `ending` why there will be no more
    requests; each is empty if all is well. A server that is about to end, or cannot write, is
    alive, but not ready: the checks of etcd upstream ask for a key, which a full etcd still
    answers."""
    is_readiness = root == "readyz"
    checks = [HealthCheck("ping"), HealthCheck("log")]
    if not is_readiness and is_since("1.36"):
        checks.append(HealthCheck("loopback-serving-certificate"))
    checks.append(HealthCheck("etcd", trouble, "etcd"))
    if is_readiness:
        checks.append(HealthCheck("etcd-readiness", trouble, "etcd-readiness"))
        checks.append(HealthCheck("informer-sync"))
        checks.append(HealthCheck("data-writable", unwritable, silent=True))
    hooks = (
        hook
        for hook in _ordered_hooks()
        if is_since(_HOOKS_SINCE.get(hook, "1.0"))
        and not (hook in _HOOKS_UNTIL and is_since(_HOOKS_UNTIL[hook]))
        and (hook not in _HOOKS_OF_GATES or has_gate(_HOOKS_OF_GATES[hook]))
    )
    checks += [HealthCheck(hook if hook == _NO_HOOK else f"poststarthook/{hook}") for hook in hooks]
    if is_readiness:
        checks.append(HealthCheck("shutdown", ending))
    return tuple(checks)


class Observe(Protocol):
    """Takes notice of what came of a check."""

    def __call__(self, name: str, root: str, *, is_well: bool) -> None:
        """Note that the check was made for the path of health `root`."""


def health_answer(
    request: HttpRequest, checks: Sequence[HealthCheck], observe: Observe
) -> HttpAnswer:
    """Answer for `/healthz`, `/livez` or `/readyz`, or for one check below it, whatever the method.
    `observe` is told of the checks of a whole that are not left out."""
    root, slash, name = request.path[1:].partition("/")
    if not slash:
        return _all(root, request, checks, observe)
    check = next((check for check in checks if check.name == name), None)
    if check is None:
        return negotiation.NOT_FOUND
    if check.failure:
        return plain_text(500, f"internal server error: {check.failure}\n", negotiation.NO_SNIFF)
    return plain_text(200, "ok")


def _all(
    root: str, request: HttpRequest, checks: Sequence[HealthCheck], observe: Observe
) -> HttpAnswer:
    excluded = set(request.query.get("exclude", ()))
    listed = [check for check in checks if check.failure or not check.silent]
    included = [check for check in listed if not _is_excluded(check, excluded)]
    for check in included:
        observe(check.name, root, is_well=not check.failure)
    lines = "".join(_line(check, excluded) for check in listed)
    unknown = excluded - {check.name for check in checks} - {check.group for check in checks}
    if unknown:
        names = ", ".join(map(quote, sorted(unknown)))
        lines += f"warn: some health checks cannot be excluded: no matches for {names}\n"
    if any(check.failure for check in included):
        return plain_text(500, f"{lines}{root} check failed\n", negotiation.NO_SNIFF)
    if "verbose" not in request.query:
        return plain_text(200, "ok", negotiation.NO_SNIFF)
    return plain_text(200, f"{lines}{root} check passed\n", negotiation.NO_SNIFF)


def _is_excluded(check: HealthCheck, excluded: set[str]) -> bool:
    return check.name in excluded or (bool(check.group) and check.group in excluded)


def _line(check: HealthCheck, excluded: set[str]) -> str:
    if check.name in excluded:
        return f"[+]{check.name} excluded: ok\n"
    if _is_excluded(check, excluded):
        return f"[+]{check.name} excluded with {check.group}: ok\n"
    if check.failure:
        return f"[-]{check.name} failed: reason withheld\n"
    return f"[+]{check.name} ok\n"


# --- Server version ----------------------------------------------------------
#
# `/version`: which Kubernetes a server speaks for.

_EMULATING_SINCE: Final = (1, 31)
_EFFECTIVE_SINCE: Final = (1, 33)
"""The release since which a server says what it emulates."""


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """Says which version the server is of. `release` is `1.36`. `emulated` is what the server
    answers as, and `compatible` the oldest release that it gets along with; empty for the same
    release, and for the one before."""

    release: str
    patch: int = 0
    commit: str = ""
    build_date: str = "1970-01-01T00:00:00Z"
    platform: str = "linux/amd64"
    emulated: str = ""
    compatible: str = ""

    @property
    def emulation(self) -> str:
        """Return the release that the server answers as."""
        return self.emulated or self.release

    @property
    def git_version(self) -> str:
        """`v1.36.0`, which clients compare with their own version."""
        return f"v{self.release}.{self.patch}"

    @property
    def of_documents(self) -> str:
        """Return what OpenAPI documents say: `1.36`, and before 1.31 the whole version."""
        is_older = parse_version(self.release) < _EMULATING_SINCE
        return self.git_version if is_older else self.emulation

    def document(self) -> dict[str, str]:
        """Return the version as JSON, its members in the order of Go."""
        major, _, minor = self.release.partition(".")
        return {
            "major": major,
            "minor": minor,
            **(self._effective() if parse_version(self.release) >= _EFFECTIVE_SINCE else {}),
            "gitVersion": self.git_version,
            "gitCommit": self.commit,
            "gitTreeState": "clean",
            "buildDate": self.build_date,
            "goVersion": "go1.25.0",
            "compiler": "gc",
            "platform": self.platform,
        }

    def _effective(self) -> dict[str, str]:
        emulation = self.emulation
        oldest = self.compatible or previous_minor(emulation)
        return {
            f"{name}{part}": number
            for name, version in (("emulation", emulation), ("minCompatibility", oldest))
            for part, number in zip(("Major", "Minor"), version.split("."), strict=True)
        }


def version_answer(request: HttpRequest, version: ServerVersion) -> HttpAnswer:
    """Indented, whoever asks. Raises StatusError: 404 for what is below the path, 405, 406."""
    if request.path.strip("/") != "version":
        raise status.route_not_found()
    if request.method != "GET":
        raise status.method_not_allowed()
    negotiation.require_route(request, (JSON,))
    return HttpAnswer(200, JSON, json.dumps(version.document(), indent=2).encode())


# --- Debugging pages ---------------------------------------------------------
#
# `/statusz` and `/flagz`: what a server says of itself to people who look for a mistake.
#
# Text for whoever does not name one of the kinds in the Accept header, else that kind as JSON
# or YAML. As k8s.io/apiserver `pkg/server/{statusz,flagz}`, where the sign between a word and
# its value is drawn by lot, so that nobody reads it by machine.

COMPONENT: Final = "apiserver"
TEXT: Final = "text/plain"
TYPES: Final = (JSON, negotiation.YAML, TEXT)
GROUP: Final = "config.k8s.io"
VERSIONS: Final = ("v1beta1", "v1alpha1")
DEPRECATED: Final = "v1alpha1"
KINDS: Final[Mapping[str, str]] = {"statusz": "Statusz", "flagz": "Flagz"}
SINCE: Final = (1, 36)
"""The release since which the pages are there without being asked for."""

_NOT_FOR_DEBUGGING: Final = frozenset({"apis", "api", "openid", "openapi", ".well-known"})
_HEADER: Final = (
    "\n{component} {page}\nWarning: This endpoint is not meant to be machine parseable, has no "
    "formatting compatibility guarantees and is for debugging purposes only.\n"
)


@dataclass(frozen=True, slots=True)
class SelfPortrait:
    """Holds what a server knows of itself: `began` and `now` are in seconds, `flags` are those it
    was started with."""

    version: ServerVersion
    began: float
    now: Callable[[], float]
    flags: Mapping[str, str]


def page_answer(
    page: str, request: HttpRequest, portrait: SelfPortrait, paths: Iterable[str]
) -> HttpAnswer:
    """Answer for one of the pages in KINDS; `paths` are those of `/`. Raises StatusError 406."""
    page_form = _wanted(request, KINDS[page])
    if page_form is None:
        header = _HEADER.format(component=COMPONENT, page=page)
        lines = _status_text(portrait, paths) if page == "statusz" else _flag_lines(portrait)
        return plain_text(200, header + "".join(lines))
    version, accepted = page_form
    status_members = (
        _status_members(portrait, paths) if page == "statusz" else {"flags": _flags(portrait)}
    )
    document = {
        "kind": KINDS[page],
        "apiVersion": f"{GROUP}/{version}",
        "metadata": {"name": COMPONENT},
        **status_members,
    }
    return negotiation.object_answer(200, document, accepted, *_warnings(page, version))


def _wanted(request: HttpRequest, kind: str) -> tuple[str, negotiation.Accepted] | None:
    """Return the version of the kind and how to write it; None for text."""
    accept_header = negotiation.accept_header(request)
    if not accept_header.strip():
        return None
    for clause in negotiation.media_clauses(accept_header):
        named = tuple(clause.parameters.get(key, "") for key in ("g", "as"))
        version = clause.parameters.get("v", "")
        if clause.parameters.get("stream"):
            continue
        for media_type in filter(clause.fits, TYPES):
            if media_type == TEXT and not any((*named, version)):
                return None
            if media_type != TEXT and named == (GROUP, kind) and version in VERSIONS:
                pretty = clause.is_pretty or negotiation.is_pretty(request)
                return version, negotiation.Accepted(media_type, pretty=pretty)
    raise status.not_acceptable(TYPES)


def _warnings(page: str, version: str) -> Iterator[tuple[str, str]]:
    if version == DEPRECATED:
        text = f"This version of the {page} endpoint is deprecated. Please use a newer version."
        yield "Warning", f'299 - "{text}"'


def _seconds(portrait: SelfPortrait) -> int:
    return max(0, int(portrait.now() - portrait.began))


def _folders(paths: Iterable[str]) -> list[str]:
    """Return the first words of paths, without those of the API itself."""
    words = {path.strip("/").partition("/")[0] for path in paths}
    return [f"/{word}" for word in sorted(words - _NOT_FOR_DEBUGGING - {""})]


def _status_members(portrait: SelfPortrait, paths: Iterable[str]) -> JsonDict:
    version = portrait.version
    return {
        "startTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(portrait.began)),
        "uptimeSeconds": _seconds(portrait),
        "goVersion": version.document()["goVersion"],
        "binaryVersion": version.git_version.removeprefix("v"),
        "emulationVersion": version.emulation,
        "paths": _folders(paths),
    }


def _status_text(portrait: SelfPortrait, paths: Iterable[str]) -> Iterator[str]:
    members, up = _status_members(portrait, paths), _seconds(portrait)
    began = time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime(portrait.began))
    yield f"\nStarted: {began}\n"
    yield f"Up: {up // 3600} hr {up // 60 % 60:02} min {up % 60:02} sec\n"
    yield f"Go version: {members['goVersion']}\n"
    yield f"Binary version: {members['binaryVersion']}\n"
    yield f"Emulation version: {members['emulationVersion']}\n"
    yield f"Paths: {' '.join(members['paths'])}\n"


def _flags(portrait: SelfPortrait) -> dict[str, str]:
    return dict(sorted(portrait.flags.items()))


def _flag_lines(portrait: SelfPortrait) -> Iterator[str]:
    yield from (f"{name}={value}\n" for name, value in _flags(portrait).items())


# --- Logs --------------------------------------------------------------------
#
# `/logs`: the folder of a server's logs, which is empty here. Servers of 1.31 and later have it
# only if they are asked for it.

_LOGS: Final = "/logs"
_EMPTY_FOLDER: Final = b"<pre>\n</pre>\n"


def serves_logs() -> bool:
    """Return whether a server has its logs for those who read."""
    return not is_since("1.31")


def logs_answer(request: HttpRequest) -> HttpAnswer:
    """Answer for the folder of logs and what is below. Raises StatusError 405, 406."""
    if request.method != "GET":
        raise status.method_not_allowed()
    negotiation.require_route(request, ())
    if request.path == _LOGS:
        return HttpAnswer(301, "", b"", (("Location", "logs/"),))
    if request.path != f"{_LOGS}/":
        return negotiation.NOT_FOUND
    return HttpAnswer(200, "text/html; charset=utf-8", _EMPTY_FOLDER)


# --- Openid documents --------------------------------------------------------
#
# `/.well-known/openid-configuration` and `/openid/v1/jwks`: with what key the tokens of service
# accounts are signed, for others who shall trust them.
#
# As k8s.io/kubernetes `pkg/serviceaccount/openidmetadata.go` and
# `pkg/routes/openidmetadata.go`. An issuer that is no `https` URL without query and fragment
# has no such documents.

CONFIGURATION: Final = "/.well-known/openid-configuration"
KEYS: Final = "/openid/v1/jwks"
KEY_SET: Final = "application/jwk-set+json"
_CACHED: Final = (("Cache-Control", "public, max-age=3600"),)


@dataclass(frozen=True, slots=True)
class OpenId:
    """Makes the OpenID documents of a server at `address`, host and port."""

    issuer: str
    address: str
    signer: SignerOnDemand

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths that are there."""
        return (CONFIGURATION, KEYS) if _is_discoverable(self.issuer) else ()

    def answer(self, request: HttpRequest) -> HttpAnswer | None:
        """Answer a request for one of the documents; return None for paths of somebody else. Raises
        StatusError: 404 for what is below one of the two, 405, 406."""
        path = request.path.rstrip("/")
        root = next((text for text in self.paths if f"{path}/".startswith(f"{text}/")), None)
        if root is None:
            return None
        if path != root:
            raise status.route_not_found()
        if request.method != "GET":
            raise status.method_not_allowed()
        media_type = JSON if root == CONFIGURATION else KEY_SET
        negotiation.require_route(request, (media_type,))
        key = self.signer.signer().web_key()
        document = self._configuration(key["alg"]) if root == CONFIGURATION else {"keys": [key]}
        body = json.dumps(document, separators=(",", ":")).encode()
        return HttpAnswer(200, media_type, body, _CACHED)

    def _configuration(self, algorithm: str) -> dict[str, object]:
        return {
            "issuer": self.issuer,
            "jwks_uri": f"https://{self.address}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [algorithm],
        }


def _is_discoverable(issuer: str) -> bool:
    url = urllib.parse.urlsplit(issuer)
    return url.scheme == "https" and not url.query and not url.fragment
