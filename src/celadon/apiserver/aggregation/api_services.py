"""Servers behind this one: the APIServices that lead to them, what is shown to them, and who looks
at each of them again and again.

As k8s.io/kube-aggregator `pkg/apiserver/apiserver.go` (which paths are passed on) and
`pkg/apis/apiregistration/v1/helper`. The group of APIServices itself is always served here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from celadon import private_files
from celadon.apiserver.caches.store_informers import Mirror
from celadon.apiserver.object_store import ObjectStore, collection_prefix
from celadon.apiserver.workers import on_loop
from celadon.kube import GroupVersion, GroupVersionResource, JsonObject, User, metadata
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import HTTPS_PORT
from celadon.records import dataclass

# --- Settings of front proxies -----------------------------------------------
#
# What a front proxy shows to the servers behind it, and by what those, and we, know one.


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """Holds the flags of kube-apiserver about front proxies. `certificate` and `key` are the files
    of what we show (PEM); the others say by which authorities (a file, too), common names and
    headers any front proxy is known."""

    certificate: Path | None = None
    key: Path | None = None
    authorities: Path | None = None
    allowed_names: tuple[str, ...] = ()
    user_headers: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()

    @property
    def fault(self) -> str:
        """Return why a server does not start with these, in upstream's words; empty if it does."""
        lists = {
            "requestheader-username-headers": self.user_headers,
            "requestheader-group-headers": self.group_headers,
            "requestheader-extra-headers-prefix": self.extra_prefixes,
            "requestheader-allowed-names": self.allowed_names,
            "requestheader-uid-headers": self.uid_headers,
        }
        for flag, values in lists.items():
            if not all(value.strip() for value in values):
                return f'empty value in "{flag}"'
        if self.uid_headers and "x-remote-uid" not in (
            uid_header.lower() for uid_header in self.uid_headers
        ):
            return (
                "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid "
                "header - API aggregation will not work"
            )
        return ""

    def times(self) -> tuple[int, ...]:
        """Return when the files were written: others may take their place. Raises OSError."""
        files = (self.certificate, self.key)
        return tuple(file.stat().st_mtime_ns for file in files if file is not None)

    def data(self) -> dict[str, str]:
        """Return the members by which extension servers read this in the ConfigMap
        `extension-apiserver-authentication`. Raises OSError."""
        if self.authorities is None:
            return {}
        result = {
            "requestheader-allowed-names": _list(self.allowed_names),
            "requestheader-client-ca-file": private_files.content(self.authorities).decode(
                "utf-8", "replace"
            ),
            "requestheader-extra-headers-prefix": _list(self.extra_prefixes),
            "requestheader-group-headers": _list(self.group_headers),
            "requestheader-uid-headers": _list(self.uid_headers),
            "requestheader-username-headers": _list(self.user_headers),
        }
        if not self.uid_headers:
            del result["requestheader-uid-headers"]
        return result


def _list(values: tuple[str, ...]) -> str:
    return json.dumps(list(values), separators=(",", ":"))


API_SERVICES: Final = GroupVersionResource("apiregistration.k8s.io", "v1", "apiservices")
AVAILABLE: Final = "Available"
"""The type of the condition."""
AGGREGATOR: Final = User("system:kube-aggregator", ("system:masters",))
"""As whom this server asks others."""


@dataclass(frozen=True, slots=True)
class RemoteApiService:
    """Holds what an APIService says that names a Service. `ca_bundle` is base64, empty for the
    system's roots."""

    name: str
    group_version: GroupVersion
    namespace: str
    service: str
    port: int
    ca_bundle: str
    is_insecure: bool
    group_priority: int
    version_priority: int
    is_available: bool

    @property
    def host(self) -> str:
        """The name that the server's certificate must have."""
        return f"{self.service}.{self.namespace}.svc"

    @property
    def path(self) -> str:
        """Return the path below which requests are passed on."""
        return f"/apis/{self.group_version}" if self.group_version.group else "/api"


@dataclass(frozen=True, slots=True)
class RemoteApiServices:
    """Holds the APIServices of one moment that lead to other servers."""

    by_version: Mapping[GroupVersion, RemoteApiService]

    def named(self, name: str) -> RemoteApiService | None:
        """Return the one of that name, which says its version and its group."""
        version, _, group = name.partition(".")
        return self.by_version.get(GroupVersion(group, version))

    def serving(self, path: str) -> RemoteApiService | None:
        """Return the APIService that a path (without percent-encoding) leads to; None for this
        server itself."""
        if not self.by_version:
            return None
        _, _, first, *rest = ("", *path.split("/"), "")
        if first == "api":
            return self.by_version.get(GroupVersion("", "v1"))
        if first != "apis" or len(rest) < 3:  # the last is empty
            return None
        return self.by_version.get(GroupVersion(rest[0], rest[1]))


class ApiServiceView:
    """Keeps the APIServices that lead to other servers current."""

    def __init__(self, objects: ObjectStore) -> None:
        resource = known_resources(all_versions=True).by_gvr(API_SERVICES)
        assert resource is not None, "no APIServices"
        self._mirror = Mirror(objects, collection_prefix(resource))
        self._remote: dict[str, RemoteApiService] = {}
        """By the name of the APIService."""
        self._current = self._made()

    @on_loop
    def current(self) -> RemoteApiServices:
        """Return the APIServices as they are stored now: the same object until something
        changes."""
        if self._mirror.refresh():
            services = self._made()
            if services != self._current:
                self._current = services
        return self._current

    @on_loop
    def unavailable(self) -> Mapping[tuple[str, ...], float]:
        """Return 1 for each APIService that is known not to be available, 0 for every other one."""
        services = self.current()
        names = (metadata.name(item.object) for item in self._mirror)
        named = ((name, services.named(name)) for name in names)
        return {
            (name,): float(service is not None and not service.is_available)
            for name, service in named
        }

    def _made(self) -> RemoteApiServices:
        """Read what is new; there may be thousands of APIServices, of which few lead elsewhere."""
        news = self._mirror.news
        if news is None:
            self._remote.clear()
            news = [(None, item) for item in self._mirror]
        for old, new in news:
            if old is not None:
                self._remote.pop(metadata.name(old.object), None)
            service = None if new is None else remote_api_service(new.object)
            if service is not None:
                self._remote[service.name] = service
        services = (service for _, service in sorted(self._remote.items()))
        return RemoteApiServices({service.group_version: service for service in services})


def remote_api_service(obj: JsonObject) -> RemoteApiService | None:
    """Read an APIService; return None for one that this server is responsible for."""
    spec: JsonObject = obj.get("spec") or {}
    service: JsonObject | None = spec.get("service")
    version = GroupVersion(spec.get("group", ""), spec.get("version", ""))
    if service is None or version == API_SERVICES.group_version:
        return None
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return RemoteApiService(
        metadata.name(obj),
        version,
        service.get("namespace", ""),
        service.get("name", ""),
        service.get("port") or HTTPS_PORT,
        spec.get("caBundle") or "",
        bool(spec.get("insecureSkipTLSVerify")),
        spec.get("groupPriorityMinimum", 0),
        spec.get("versionPriority", 0),
        any(
            condition.get("type") == AVAILABLE and condition.get("status") == "True"
            for condition in conditions
        ),
    )


# --- Availability checks ------------------------------------------------------
#
# Somebody for each extension server who looks at it again and again.
#
# A server that takes its time holds up nobody but its own lookout.

FIRST_RETRY: Final = 0.05
LAST_RETRY: Final = 30.0
"""Seconds after a look that found something wrong: at first, and at most."""

_LOG: Final = logging.getLogger("celadon.controllers")


class AvailabilityChecks:
    """Looks at each server again and again, in a task of its own. `look` says whether all was well;
    then the next look is in `seconds`, or when `wake` is called."""

    def __init__(self, look: Callable[[str], Awaitable[bool]], seconds: float) -> None:
        self._look = look
        self._seconds = seconds
        self._tasks: dict[str, tuple[asyncio.Task[None], asyncio.Event]] = {}

    def wake(self, name: str) -> None:
        """Look at a server now; there is something to see."""
        task = self._tasks.get(name)
        if task is not None:
            task[1].set()
            return
        woken = asyncio.Event()
        self._tasks[name] = asyncio.ensure_future(self._watch(name, woken)), woken

    def forget(self, name: str) -> None:
        """Look no more at a server that is gone."""
        task = self._tasks.pop(name, None)
        if task is not None:
            task[0].cancel()

    async def aclose(self) -> None:
        """Look at no server any more."""
        tasks = [task for task, _ in self._tasks.values()]
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, name: str, woken: asyncio.Event) -> None:
        failures = 0
        while True:
            woken.clear()
            try:
                is_well = await self._look(name)
            except Exception:  # noqa: BLE001  whatever it was, there is another look
                _LOG.exception("a look at %s failed", name)
                is_well = False
            failures = 0 if is_well else min(failures + 1, 30)
            pause = min(FIRST_RETRY * 2.0**failures, LAST_RETRY)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds if is_well else pause):
                    await woken.wait()
