"""`/healthz`, `/livez`, `/readyz`: whether the server is well, as a whole and part by part.

As k8s.io/apiserver `pkg/server/healthz`: whoever asks learns which check fails, but not why; only
the path of the single check says that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from celadon.kube.go import quote
from celadon.records import dataclass
from celadon.serve.answers import NO_SNIFF, NOT_FOUND
from celadon.serve.http_messages import HttpAnswer, HttpRequest, plain_text

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


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """The outcome of a check: `failure` is empty if all is well. A check of a group can be left
    out under the group's name, too. `silent`: it is not listed while all is well, as upstream has
    no such check."""

    name: str
    failure: str = ""
    group: str = ""
    silent: bool = False


def checks_of(root: str, trouble: str, unwritable: str, ending: str) -> tuple[HealthCheck, ...]:
    """Those below a path of health, in upstream's order. `trouble` is what is wrong with the store,
    `unwritable` why it takes no more writes, `ending` why there will be no more requests; each is
    empty if all is well. A server that is about to end, or cannot write, is alive, but not ready:
    the checks of etcd upstream ask for a key, which a full etcd still answers."""
    is_readiness = root == "readyz"
    found = [HealthCheck("ping"), HealthCheck("log"), HealthCheck("etcd", trouble, "etcd")]
    if is_readiness:
        found.append(HealthCheck("etcd-readiness", trouble, "etcd-readiness"))
        found.append(HealthCheck("informer-sync"))
        found.append(HealthCheck("data-writable", unwritable, silent=True))
    found += [HealthCheck(one if one == _NO_HOOK else f"poststarthook/{one}") for one in HOOKS]
    if is_readiness:
        found.append(HealthCheck("shutdown", ending))
    return tuple(found)


class Observe(Protocol):
    """Is told what came of a check."""

    def __call__(self, name: str, root: str, *, is_well: bool) -> None:
        """The check was made for the path of health `root`."""


def health_answer(
    request: HttpRequest, checks: Sequence[HealthCheck], observe: Observe
) -> HttpAnswer:
    """Of `/healthz`, `/livez` or `/readyz`, or of one check below it, whatever the method.
    `observe` is told of the checks of a whole that are not left out."""
    root, _, name = request.path.strip("/").partition("/")
    if not name:
        return _all(root, request, checks, observe)
    check = next((one for one in checks if one.name == name), None)
    if check is None:
        return NOT_FOUND
    if check.failure:
        return plain_text(500, f"internal server error: {check.failure}\n", NO_SNIFF)
    return plain_text(200, "ok")


def _all(
    root: str, request: HttpRequest, checks: Sequence[HealthCheck], observe: Observe
) -> HttpAnswer:
    excluded = set(request.query.get("exclude", ()))
    listed = [check for check in checks if check.failure or not check.silent]
    asked = [check for check in listed if not _is_excluded(check, excluded)]
    for check in asked:
        observe(check.name, root, is_well=not check.failure)
    lines = "".join(_line(check, excluded) for check in listed)
    unknown = excluded - {check.name for check in checks} - {check.group for check in checks}
    if unknown:
        names = ", ".join(map(quote, sorted(unknown)))
        lines += f"warn: some health checks cannot be excluded: no matches for {names}\n"
    if any(check.failure for check in asked):
        return plain_text(500, f"{lines}{root} check failed\n", NO_SNIFF)
    if "verbose" not in request.query:
        return plain_text(200, "ok", NO_SNIFF)
    return plain_text(200, f"{lines}{root} check passed\n", NO_SNIFF)


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
