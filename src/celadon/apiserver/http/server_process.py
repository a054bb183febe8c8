"""A server process from its settings to its end.

Everything that can be wrong with the settings is found before the first connection is accepted, and
raised as a StartError of one line. The kubeconfig is written last: a server that does not start
leaves that of another one alone. It is written again when clients have to trust another
certificate.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import uvloop

from celadon import private_files
from celadon.admission.static_manifests import ManifestError
from celadon.apiserver.api_settings import DEFAULT_ISSUER, AccessSettings, Settings
from celadon.apiserver.assembly import ApiServer
from celadon.apiserver.authn.authentication import TokenFile, TokenFileError, read_token_file
from celadon.apiserver.authn.identities import ADMINISTRATOR
from celadon.apiserver.authn.service_account_tokens import SignerOnDemand
from celadon.apiserver.authn.signed_tokens import KeyFileError
from celadon.apiserver.bootstrap_objects import authentication_config_map
from celadon.apiserver.caches.service_allocators import check_range
from celadon.apiserver.http.http_server import HttpServer
from celadon.apiserver.http.server_settings import (
    MEMORY,
    Address,
    CredentialsFolder,
    ServerSettings,
    ServerTls,
    StartError,
    joined_bundles,
    kubeconfig,
    server_tls,
)
from celadon.apiserver.http_messages import Handler, HttpAnswer, HttpRequest
from celadon.apiserver.object_store import ROOT, Undecodable
from celadon.apiserver.operation import log_lines
from celadon.apiserver.workers import SWITCH_SECONDS, aside, soon_on
from celadon.kube import JsonObject, metadata
from celadon.kube.defaulting import service_ca_source
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource
from celadon.records import dataclass, replace
from celadon.storage import FileError, ServiceError, Store, open_memory, open_sqlite
from celadon.storage.sqlite_file import FileDamaged

if TYPE_CHECKING:
    from celadon.apiserver.audit import AuditLog
    from celadon.apiserver.discovery.openapi_descriptions import Descriptions


# --- Process setup -----------------------------------------------------------
#
# What a server process sets up once: its socket, its open files, its memory, its threads.

GARBAGE: Final = 2_000
"""New containers before a collection looks at them: those of some requests. Nothing else happens
while it looks; it looks at ten times as many each tenth time."""


def open_listener(address: Address) -> socket.socket:
    """Return a socket that listens, for asyncio. Raises StartError."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen()
        listener.settimeout(0)
    except OSError as error:
        listener.close()
        where = f"{address.host}:{address.port}"
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise StartError(f"cannot listen on `{where}`: {reason}") from None
    return listener


def allow_many_connections() -> None:
    """Allow as many open files as the system does, as programs in Go do."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def take_short_turns() -> None:
    """Let workers take short turns: the event loop does not wait long for one to let it go on."""
    sys.setswitchinterval(SWITCH_SECONDS)


def settle_memory() -> None:
    """Tell the collector of garbage that what has been loaded stays: it is not looked at again for
    what could be freed. A request leaves hundreds of objects behind, so that the usual 700 would
    mean a collection each."""
    gc.freeze()
    gc.set_threshold(GARBAGE, 10, 1_000)
    gc.enable()


# --- Starting objects --------------------------------------------------------
#
# Objects that a server is given at its start, created as its administrator would.
#
# Namespaces and CustomResourceDefinitions come first, whatever the order of the files; what is
# there already stays as it is.

FIRST: Final = ("Namespace", "CustomResourceDefinition")
CREATED: Final = 201
EXISTS: Final = 409


async def create_objects(
    server: ApiServer, objects: Iterable[tuple[str, JsonObject]], token: str
) -> None:
    """Create the objects, each with its place, for errors. Raises StartError for one that is
    refused."""
    for place, obj in in_creation_order(objects):
        await server.controllers.caught_up()
        resource = server.served.current().catalog.by_gvk(metadata.gvk(obj))
        if resource is None:
            raise StartError(f"{place}: no kind {obj.get('kind')} in {obj.get('apiVersion')}")
        headers = [("authorization", f"Bearer {token}"), ("content-type", "application/json")]
        target = collection_path(resource, metadata.namespace(obj) or "default")
        answer = await server.handle(HttpRequest("POST", target, headers, json.dumps(obj).encode()))
        if answer.code not in (CREATED, EXISTS):
            raise StartError(f"{place}: {json.loads(answer.body).get('message')}")


def in_creation_order(objects: Iterable[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """Sort objects so that those that others need come before them."""
    return sorted(objects, key=lambda pair: pair[1].get("kind") not in FIRST)


def collection_path(resource: Resource, namespace: str) -> str:
    """Return where objects of the kind are created; `namespace` is for those that have one."""
    gvk = resource.gvk
    root = f"/apis/{gvk.group}/{gvk.version}" if gvk.group else f"/api/{gvk.version}"
    place = f"namespaces/{namespace}/" if resource.namespaced else ""
    return f"{root}/{place}{resource.gvr.resource}"


# --- Watched manifests -------------------------------------------------------
#
# Files of objects that are applied again when they change (`--watch-manifests`).
#
# What is new is created, what has changed replaces what is stored, and what is in no file any
# more is deleted, if a file had brought it. Whatever is wrong with a file is logged, and what
# it brought before stays. The server's own status and metadata stay, as with `kubectl replace`.

Placed: TypeAlias = tuple[str, JsonObject]
NOT_FOUND: Final = 404


class WatchedManifests:
    """Watches the manifests that a server was started with. `read` gives all objects with their
    places, or raises StartError; `brought` are those that the server was started with."""

    def __init__(
        self,
        server: ApiServer,
        token: str,
        read: Callable[[], Sequence[Placed]],
        brought: Sequence[Placed],
    ) -> None:
        self._server = server
        self._call = partial(_call, server, token)
        self._read = read
        self._last = {self._path(obj): obj for _, obj in brought}

    async def refresh(self) -> None:
        """Look, and do what follows. Never raises for what is in the files."""
        try:
            read = self._read()
        except (StartError, OSError) as error:
            log_lines.warn("the manifests cannot be read", {"err": str(error)})
            return
        documents: dict[str, JsonObject] = {}
        for place, obj in in_creation_order(read):
            await self._server.controllers.caught_up()
            path = self._path(obj)
            if not path:
                log_lines.warn("a manifest is of no known kind", {"place": place})
                continue
            documents[path] = obj
            if self._last.get(path) != obj and not await self._put(place, path, obj):
                documents.pop(path)
                if path in self._last:
                    documents[path] = self._last[path]
        for path in self._last.keys() - documents.keys():
            await self._call("DELETE", path, None)
            log_lines.say(log_lines.LIFE, "a manifest has gone", {"path": path})
        self._last = documents

    async def _put(self, place: str, path: str, obj: JsonObject) -> bool:
        """Write one object of a manifest; return whether the server took it."""
        stored = await self._call("GET", path, None)
        if stored.code == NOT_FOUND:
            answer = await self._call("POST", path.rpartition("/")[0], obj)
        else:
            answer = await self._call("PUT", path, obj)
        if answer.code >= 400:
            message = json.loads(answer.body).get("message", "")
            log_lines.warn("a manifest is refused", {"place": place, "err": message})
            return False
        log_lines.say(log_lines.LIFE, "a manifest was taken in", {"place": place})
        return True

    def _path(self, obj: JsonObject) -> str:
        """Return the path of an object, empty for an unknown kind."""
        resource = self._server.served.current().catalog.by_gvk(metadata.gvk(obj))
        if resource is None:
            return ""
        collection = collection_path(resource, metadata.namespace(obj) or "default")
        return f"{collection}/{metadata.name(obj)}"


async def _call(
    server: ApiServer, token: str, method: str, path: str, body: JsonObject | None
) -> HttpAnswer:
    headers = [
        ("authorization", f"Bearer {token}"),
        ("content-type", "application/json"),
        ("accept", "application/json"),
    ]
    data = b"" if body is None else json.dumps(body).encode()
    return await server.handle(HttpRequest(method, path, headers, data))


# As k8s.io/kubernetes `pkg/controlplane/controller/clusterauthenticationtrust`, which looks at the
# ConfigMap, too, again and again.
class ToldAuthorities:
    """Keeps the ConfigMap by which extension servers know clients and front proxies. Authorities
    that come are added to those before, and go when they have expired. `wanted` gives the ConfigMap
    of the files as they are."""

    def __init__(self, server: ApiServer, token: str, expected: Callable[[], JsonDict]) -> None:
        self._call = partial(_call, server, token)
        self._expected = expected
        self._written = expected()

    async def refresh(self) -> None:
        """Tell what is in the files, if that is another thing than before."""
        try:
            expected = self._expected()
        except OSError:  # logged by whoever trusts them
            return
        if expected == self._written:
            return
        space, name = metadata.namespace(expected), metadata.name(expected)
        path = f"/api/v1/namespaces/{space}/configmaps"
        call = await self._call("GET", f"{path}/{name}", None)
        if call.code == NOT_FOUND:
            answer = await self._call("POST", path, expected)
        else:
            stored = json.loads(call.body)
            data = _together(stored.get("data") or {}, expected["data"], datetime.now(UTC))
            answer = await self._call("PUT", f"{path}/{name}", {**stored, "data": data})
        if answer.code < 400:
            self._written = expected


def _together(
    former: Mapping[str, str], data: Mapping[str, str], now: datetime
) -> Mapping[str, str]:
    bundles = {
        name: joined_bundles((former.get(name, ""), text), now)
        for name, text in data.items()
        if name.endswith("client-ca-file")
    }
    return {**former, **data, **bundles}


LATER: Final = (
    "celadon.apiserver.authn.client_certificates",
    "celadon.apiserver.authn.signing_keys",
    "celadon.cel.parsing.diagnosis",
    "celadon.goyaml.yaml_documents",
)
"""What is loaded when the server is ready: it needs none of these before."""

RELOAD_SECONDS: Final = 2.0
"""Between two looks at files that may change."""

SWEEP_SECONDS: Final = 1.0
"""Between two looks at what has outlived its time."""


@dataclass(frozen=True, slots=True)
class Serving:
    """Says how to reach a server that is ready. `credentials` is the folder that is kept, if
    any."""

    url: str
    kubeconfig: Path
    credentials: Path | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """All that is known before there is an event loop."""

    listener: socket.socket
    tls: ServerTls | None
    access: AccessSettings
    admin_token: str
    audit: AuditLog | None
    serving: Serving
    descriptions: Descriptions | None

    @property
    def trusted(self) -> bytes:
        """Return what clients should trust now (PEM); empty for plain HTTP."""
        return b"" if self.tls is None else self.tls.trusted


def run(
    settings: ServerSettings,
    ready: Callable[[Serving], None],
    ended: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is called once connections are accepted. When all is
    closed, `ended` is called, before the objects are taken apart: of a million of them that takes
    seconds, and a process that ends then has no use for it. Raises StartError."""
    servers: list[ApiServer] = []
    with contextlib.ExitStack() as stack:
        with _start_errors():
            prepared = _prepared(settings, stack)
        allow_many_connections()
        take_short_turns()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(settings, prepared, ready, servers))
    ended()


def _prepared(settings: ServerSettings, stack: contextlib.ExitStack) -> _Prepared:
    _check_addresses(settings.service_addresses)
    folder = settings.credentials_folder
    listener = stack.enter_context(open_listener(settings.listen))
    credentials_folder = CredentialsFolder(folder)
    address = Address(settings.listen.host, listener.getsockname()[1])
    proxies = settings.front_proxy.authorities
    tls = server_tls(settings.tls, address, credentials_folder, datetime.now(UTC), proxies)
    token = credentials_folder.administrator_token()
    tokens = _tokens(settings.token_file)
    issuers = settings.issuers or (DEFAULT_ISSUER,)
    access = AccessSettings(
        _signer(settings, credentials_folder),
        TokenFile({**tokens.users, token: ADMINISTRATOR}),
        issuer=issuers[0],
        client_certificates=settings.tls.client_authorities is not None,
        anonymous=settings.anonymous,
        former_issuers=issuers[1:],
    )
    url = address.url("http" if tls is None else "https")
    path = settings.kubeconfig_out
    if path is None:
        path = (folder or _temporary(stack)) / "admin.kubeconfig"
    return _Prepared(
        listener,
        tls,
        access,
        token,
        _audit(settings, stack),
        Serving(
            url, path, folder, (*tokens.warnings, *private_files.exposures(_secrets(settings)))
        ),
        _descriptions(settings.openapi_descriptions),
    )


def _descriptions(path: Path | None) -> Descriptions | None:
    if path is None:
        return None
    # late: few servers are told of a file
    from celadon.apiserver.discovery.openapi_descriptions import (
        DescriptionsError,
        read_descriptions,
    )

    try:
        return read_descriptions(path)
    except DescriptionsError as error:
        raise StartError(f"--openapi-descriptions: {error}") from error


def _secrets(settings: ServerSettings) -> Iterator[str | Path | None]:
    """Files that hold secrets of the cluster, or will."""
    if settings.etcd is None and settings.data != MEMORY:
        yield settings.data
    if settings.credentials_folder is not None:
        yield from sorted(settings.credentials_folder.glob("*.key"))
        yield from sorted(settings.credentials_folder.glob("*.token"))
    yield from (
        settings.tls.key,
        settings.signing_key,
        settings.token_file,
        settings.audit_log,
        settings.kubeconfig_out,
    )


def _check_addresses(text: str) -> None:
    """Check the ranges of addresses. Raises StartError for no range that Services could get their
    addresses from."""
    try:
        check_range(text)
    except ValueError as error:
        raise StartError(f"--service-cluster-ip-range: {error}") from None


def _signer(settings: ServerSettings, folder: CredentialsFolder) -> SignerOnDemand:
    """Return the signer of tokens. Keys in files that cannot be used are known at once. Raises
    KeyFileError, OSError."""
    if settings.signing_key is None and not settings.token_keys:
        return folder.signer()
    # late: see SignerOnDemand
    from celadon.apiserver.authn.signing_keys import public_keys

    more = [private_files.content(path) for path in settings.token_keys]
    for path, pem in zip(settings.token_keys, more, strict=True):
        with _naming(path):
            public_keys(pem)
    if settings.signing_key is None:
        return folder.signer(more)
    key = private_files.content(settings.signing_key)
    signer = SignerOnDemand(lambda: key, more)
    with _naming(settings.signing_key):
        signer.signer()
    return signer


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name a key that cannot be used by its file."""
    try:
        yield
    except KeyFileError as error:
        raise KeyFileError(f"`{path}`: {error}") from None


def _temporary(stack: contextlib.ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="celadon-")))


def _audit(settings: ServerSettings, stack: contextlib.ExitStack) -> AuditLog | None:
    if settings.audit_log is None and settings.audit_policy is None:
        return None
    # late: few servers have one
    from celadon.apiserver.audit import (
        METADATA_FOR_ALL,
        AuditLog,
        AuditPolicyError,
        read_audit_policy,
    )

    policy = METADATA_FOR_ALL
    if settings.audit_policy is not None:
        try:
            policy = read_audit_policy(private_files.content(settings.audit_policy).decode())
        except (AuditPolicyError, UnicodeDecodeError) as error:
            raise StartError(f"`{settings.audit_policy}`: {error}") from None
    if settings.audit_log is None:
        return None
    return stack.enter_context(AuditLog(settings.audit_log, policy, settings.audit_rotation))


@contextlib.contextmanager
def _start_errors() -> Iterator[None]:
    """Turn what others raise for a user's mistake into an error of one line."""
    try:
        yield
    except FileDamaged as error:
        raise StartError(
            f"{error}\n`celadon data check {error.path}` tells what is damaged, "
            f"`celadon data restore BACKUP {error.path} --force` puts a backup in its place"
        ) from error
    except Undecodable as error:
        raise StartError(f"`{error.key}` cannot be decoded: {error}") from error
    except (
        FileError,
        ServiceError,
        ManifestError,
        TokenFileError,
        KeyFileError,
        UnicodeError,
    ) as error:
        raise StartError(str(error)) from error
    except OSError as error:
        where = f"`{error.filename}`: " if error.filename else ""
        raise StartError(f"{where}{error.strerror or error}") from error


def _text(path: Path | None) -> str:
    """Return the text of a file of certificates, in which may stand anything beside them: what is
    no UTF-8 is replaced, as where Go writes JSON. Raises OSError."""
    return "" if path is None else private_files.content(path).decode("utf-8", "replace")


def _tokens(path: Path | None) -> TokenFile:
    if path is None:
        return TokenFile()
    try:
        return read_token_file(private_files.content(path).decode(), str(path))
    except UnicodeDecodeError as error:
        raise TokenFileError(f"token file '{path}': {error}") from None


async def _serve(
    settings: ServerSettings,
    prepared: _Prepared,
    ready: Callable[[Serving], None],
    servers: list[ApiServer],
) -> None:
    """`servers` is given the server, which holds the objects."""
    loop = asyncio.get_running_loop()
    host, port = settings.listen.host, prepared.listener.getsockname()[1]
    service_ca = settings.service_ca_config_map
    with _start_errors():
        client_ca = _text(settings.tls.client_authorities)
    served = Settings(
        settings.version,
        address=f"{host}:{port}",
        extra_token_sources=(service_ca_source(service_ca),) if service_ca else (),
        plugins=settings.plugins,
        plugin_settings=settings.plugin_settings,
        webhook_services=settings.webhook_services,
        front_proxy=settings.front_proxy,
        limits=settings.limits,
        gates=settings.gates,
        runtime_config=settings.runtime_config,
        controller_names=settings.controllers,
        simulation=settings.simulation,
        collection_lag=settings.collection_lag,
        event_seconds=settings.event_seconds,
        service_addresses=settings.service_addresses,
        allows_everything=settings.allows_everything,
        authorizes_nodes=settings.authorizes_nodes,
        client_ca=client_ca,
        root_certificates=prepared.trusted.decode("utf-8", "replace"),
        is_one_of_several=settings.etcd is not None,
        effective=settings.effective,
        descriptions=prepared.descriptions,
    )
    async with _store(settings, loop) as store:
        api = ApiServer(store, prepared.access, served)
        if settings.etcd is not None:
            # late: few servers are on etcd
            from celadon.storage.etcd import EtcdStore

            assert isinstance(store, EtcdStore)
            store.tell_before(api.objects.read_before)
        servers.append(api)
        await _serve_api(settings, prepared, api, ready)


async def _serve_api(
    settings: ServerSettings, prepared: _Prepared, api: ApiServer, ready: Callable[[Serving], None]
) -> None:
    try:
        with _start_errors():
            await api.start()
            await create_objects(api, settings.manifests, prepared.admin_token)
            _write_first_kubeconfig(prepared)
        settle_memory()
        api.core.workers.allow_forks(api.objects.store.held)
        handler = api.handle
        if prepared.audit is not None:
            # late: as the log
            from celadon.apiserver.audit import AuditedHandler

            sources, metrics = api.core.sources, api.core.metrics
            counters = metrics.audit_events, metrics.audit_errors
            handler = AuditedHandler(
                api.handle, prepared.audit, sources.now, *counters, api.core.workers
            ).handle
        await _serve_requests(settings, prepared, api, handler, ready)
    finally:
        await api.stop()


def _write_first_kubeconfig(prepared: _Prepared) -> None:
    """Write the kubeconfig at the start. On a full disk the server does without: what is there may
    be deleted with another one."""
    try:
        _write_kubeconfig(prepared)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _warn_of_kubeconfig(error)


def _write_kubeconfig(prepared: _Prepared) -> None:
    """Write the kubeconfig if it is another one than what is there."""
    path = prepared.serving.kubeconfig
    private_files.make_folder(path.parent)
    text = kubeconfig(prepared.serving.url, prepared.trusted, prepared.admin_token).encode()
    if not path.is_file() or path.read_bytes() != text:
        private_files.write(path, text)


def _warn_of_kubeconfig(error: OSError) -> None:
    log_lines.warn("the kubeconfig cannot be written", {"err": str(error)})


def _look_at_certificates(prepared: _Prepared, server: HttpServer) -> None:
    """Take over changed certificates. Clients that were let in by authorities that may have gone
    have to come in anew. A kubeconfig that trusts the certificate before this one would be of no
    more use, so it is written anew."""
    before = prepared.trusted
    if prepared.tls is None or not prepared.tls.reload():
        return
    if prepared.tls.recalls:
        server.recall_certificates()
    if prepared.trusted == before:
        return
    try:
        _write_kubeconfig(prepared)
    except OSError as error:
        _warn_of_kubeconfig(error)


async def _serve_requests(
    settings: ServerSettings,
    prepared: _Prepared,
    api: ApiServer,
    handler: Handler,
    ready: Callable[[Serving], None],
) -> None:
    """Serve until a signal comes, and what was begun is finished."""
    loop = asyncio.get_running_loop()
    tls = prepared.tls
    loading: list[asyncio.Task[None]] = []

    def begin() -> None:
        ready(prepared.serving)
        loading.append(loop.create_task(aside(load_more, LATER)))

    server = HttpServer(
        handler,
        begin,
        None if tls is None else tls.context,
        signed_for=None if tls is None else tls.signed_for,
    )

    def end() -> None:
        """End: the first signal asks, the second insists."""
        log_lines.say(log_lines.LIFE, "the server ends")
        delay = 0.0 if api.is_ending else settings.shutdown_delay
        api.prepare_to_stop()
        loop.call_later(delay, server.end)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    looking = loop.create_task(_look_at_files(settings, prepared, api, server))
    sweeping = loop.create_task(_sweep(api.core.objects.store))
    try:
        await server.serve(sockets=[prepared.listener])
    finally:
        looking.cancel()
        sweeping.cancel()


def load_more(names: Iterable[str]) -> None:
    """Modules that the first client who needs them would wait for, and all others with it."""
    for name in names:
        importlib.import_module(name)


async def _sweep(store: Store) -> None:
    """Remove what has outlived its time, again and again."""
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        store.sweep()


def _told(settings: ServerSettings) -> JsonDict:
    """Return the ConfigMap of the authorities in files. Raises OSError."""
    client_ca = _text(settings.tls.client_authorities)
    return authentication_config_map(client_ca, settings.front_proxy.data())


async def _look_at_files(
    settings: ServerSettings, prepared: _Prepared, api: ApiServer, server: HttpServer
) -> None:
    """Take in what has changed."""
    manifests = None
    authorities = ToldAuthorities(api, prepared.admin_token, partial(_told, settings))
    if settings.read_manifests is not None:
        read = settings.read_manifests
        manifests = WatchedManifests(api, prepared.admin_token, read, settings.manifests)
    while True:
        await asyncio.sleep(RELOAD_SECONDS)
        _look_at_certificates(prepared, server)
        await authorities.refresh()
        if manifests is not None:
            await manifests.refresh()
        await api.core.static.look()


@contextlib.asynccontextmanager
async def _store(settings: ServerSettings, loop: asyncio.AbstractEventLoop) -> AsyncIterator[Store]:
    """Open the store that the settings name, and close it in the end. Raises StartError."""
    if settings.etcd is not None:
        # late: few servers are on etcd
        from celadon.storage.etcd import open_etcd

        with _start_errors():
            shared = await open_etcd(replace(settings.etcd, root=ROOT))
        try:
            yield shared
        finally:
            await shared.aclose()
        return
    with _start_errors():
        if settings.data == MEMORY:
            store = open_memory(carry=soon_on(loop))
        else:
            carry, soon = loop.call_soon_threadsafe, loop.call_soon
            store = open_sqlite(settings.data, carry=carry, soon=soon)
    yield store  # which the server closes
