"""A server for a test: HTTPS on loopback, in a thread of its own, with its data in memory.

    with KubeApi(["policies/"]) as api:
        subprocess.run(["kubectl", "get", "pods"], env=api.admin.environment())

From a coroutine, `async with` does not hold up the loop. A `KubeApi` can be used once.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import uvloop

from celadon import private_files
from celadon.apiserver import Handler, HttpAnswer, HttpRequest
from celadon.apiserver.http import HttpServer, kubeconfig
from celadon.deep_recursion import USUAL_STACK, deep_calls, deep_thread
from celadon.kube import User
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass
from celadon.testing import handler_access
from celadon.testing.policy_cases import Manifest, as_manifests

if TYPE_CHECKING:
    import kr8s
    import kubernetes.client
    import lightkube


# --- Set-ups of client libraries ---------------------------------------------

# How clients reach a server as a certain user, and set-ups for the usual libraries.
#
# No library is needed until its set-up is asked for, so they are imported there.


@dataclass(frozen=True, slots=True)
class ClientAccess:
    """Says how clients reach the server. `kubeconfig` and `certificate_authority` are files, which
    last as long as the server. Over plain HTTP, the second has nothing in it."""

    url: str
    token: str
    kubeconfig: Path
    certificate_authority: Path

    def environment(self) -> dict[str, str]:
        """Return the environment for a program that looks for a cluster: kubectl, helm, an
        operator."""
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig)}

    def kubernetes_client(self) -> kubernetes.client.ApiClient:
        """Return a client of the official library: `client.CoreV1Api(access.kubernetes_client())`.
        Close it, or use it in a `with` block."""
        from kubernetes import client  # late: it is the test's own, and need not be there

        configuration = client.Configuration(
            host=self.url,
            api_key={"authorization": self.token},
            api_key_prefix={"authorization": "Bearer"},
        )
        configuration.ssl_ca_cert = str(self.certificate_authority)
        return client.ApiClient(configuration)

    def kr8s_api(self) -> kr8s.Api:
        """Return an API of kr8s: `kr8s.objects.Pod(..., api=access.kr8s_api())`."""
        import kr8s  # late: as above

        return kr8s.api(kubeconfig=str(self.kubeconfig))

    def lightkube_client(self, namespace: str = "default") -> lightkube.Client:
        """Return a client of lightkube."""
        import lightkube  # late: as above

        config = lightkube.KubeConfig.from_file(str(self.kubeconfig))
        return lightkube.Client(config=config, namespace=namespace, trust_env=False)


# --- Loop thread -------------------------------------------------------------
#
# An event loop in a thread of its own, for callers who have none to spare.


class LoopThread:
    """Runs until it is closed; ends with the process at the latest."""

    def __init__(self, name: str) -> None:
        self.loop = uvloop.new_event_loop()
        self._thread = deep_thread(self._run, name)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def call(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return what the coroutine returns or raises; the caller waits."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def close(self) -> None:
        """Close the server, and give up what still runs."""
        self.call(_cancel_others())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _cancel_others() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


# --- Loopback server ---------------------------------------------------------
#
# A handler on a port of its own on loopback, and an end without ceremony.
#
# A server for users lets requests finish when it ends; in a test nobody waits for them any
# more, so connections are cut, which takes no time.

PATIENCE: Final = 0.2
"""Seconds in which requests that were being answered may end; streams need less than one
millisecond."""


def loopback_listener(host: str) -> socket.socket:
    """Listen on any port that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((host, 0))
    listener.settimeout(0)
    return listener


class LoopbackServer:
    """Works in the loop in which `begin` is called; the listener stays the caller's."""

    def __init__(self, listener: socket.socket, tls: ssl.SSLContext | None) -> None:
        self._listener = listener
        self._tls = tls

    async def begin(self, handler: Handler) -> None:
        """Begin; connections are accepted when this is done."""
        ready = asyncio.Event()
        self._http = HttpServer(handler, ready.set, self._tls)
        self._serving = asyncio.create_task(self._http.serve(sockets=[self._listener]))
        await ready.wait()

    async def end(self) -> None:
        """End all streams, then cut all connections."""
        self._serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._serving
        await self._http.drain(PATIENCE)
        await asyncio.sleep(0)  # what was aborted is told so


_T = TypeVar("_T")

_NOT_RUNNING: Final = "the server does not run: use `with` or `start`"


class KubeApi:
    """Runs a server of the caller's own. Its methods may be called from any thread.

    `manifests` are created before it is ready: objects, files or folders, or one of them. `options`
    say how it differs from a usual server.
    """

    def __init__(
        self,
        manifests: Manifest | Iterable[Manifest] = (),
        options: handler_access.ServerOptions | None = None,
    ) -> None:
        self._manifests = as_manifests(manifests)
        self._options = handler_access.ServerOptions() if options is None else options
        self._admin: ClientAccess | None = None
        self._serving: handler_access.HandlerAccess | None = None
        self._running = ExitStack()

    @property
    def admin(self) -> ClientAccess:
        """Return the way in for somebody who may do everything. Raises RuntimeError before the
        start."""
        if self._admin is None:
            raise RuntimeError(_NOT_RUNNING)
        return self._admin

    @property
    def url(self) -> str:
        """Return the address where the server listens."""
        return self.admin.url

    @property
    def kubeconfig(self) -> Path:
        """Return the administrator's kubeconfig file."""
        return self.admin.kubeconfig

    def as_user(self, name: str, groups: Sequence[str] = ()) -> ClientAccess:
        """Return the way in for a user who may do what roles allow, no more: nothing, at first."""
        token = handler_access.new_token()
        self._handler.users[token] = User(name, tuple(groups))
        return self._access(token)

    def create(self, *manifests: Manifest) -> list[JsonDict]:
        """Create objects as the administrator; what the server made of them. Raises
        RequestRefused, ManifestError."""
        return self._call(self._handler.create(manifests))

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401 - any JSON
        *,
        user: ClientAccess | None = None,
        content_type: str = "",
    ) -> Any:  # noqa: ANN401 - any JSON
        """Send one request without the network; return the object in its answer. `path` is with the
        query; a PATCH is a merge patch unless `content_type` says otherwise; `user` is the
        administrator unless given. Raises RequestRefused."""
        token = "" if user is None else user.token
        coroutine = self._handler.request(
            method, path, body, token=token, content_type=content_type
        )
        return self._call(coroutine)

    def handle(self, request: HttpRequest) -> HttpAnswer:
        """Answer any request without the network, with the headers it has; not for watches."""
        return self._call(self._handler.handle(request))

    def settle(self) -> None:
        """Wait until the server's controllers have nothing to do."""
        self._call(self._handler.settle())

    def advance(self, *, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Move the clock of a simulation; all that is due by then happens, with what follows from
        it. Raises RuntimeError without a simulation."""
        moved = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        self._call(self._handler.advance(moved.total_seconds()))

    def start(self) -> Self:
        """Be ready. Raises RequestRefused, ManifestError for manifests."""
        with ExitStack() as stack:
            self._folder = Path(stack.enter_context(TemporaryDirectory(prefix="celadon-")))
            # what controllers need; requests get more, and threads of tests have no more
            stack.enter_context(deep_calls(USUAL_STACK))
            self._thread = LoopThread("celadon-kube-api")
            stack.callback(self._thread.close)
            listener = stack.enter_context(loopback_listener(handler_access.LOOPBACK))
            self._port = listener.getsockname()[1]
            handler = handler_access.HandlerAccess(self._options, self._port)
            self._call(handler.__aenter__())
            stack.callback(lambda: self._call(handler.__aexit__(None, None, None)))
            http = LoopbackServer(
                listener, handler_access.loopback_tls().context if self._options.tls else None
            )
            self._call(http.begin(lambda request: _deeply(handler.handle(request))))
            stack.callback(lambda: self._call(http.end()))
            self._call(handler.create(self._manifests))
            self._serving = handler
            self._admin = self._access(handler.admin_token)
            self._running = stack.pop_all()
        return self

    def stop(self) -> None:
        """Cut all connections and forget everything. May be repeated."""
        self._admin = self._serving = None
        self._running.close()

    @property
    def _handler(self) -> handler_access.HandlerAccess:
        if self._serving is None:
            raise RuntimeError(_NOT_RUNNING)
        return self._serving

    def _call(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._thread.call(_deeply(work))

    def _access(self, token: str) -> ClientAccess:
        authority = handler_access.loopback_tls().trusted if self._options.tls else b""
        url = f"{'https' if self._options.tls else 'http'}://{handler_access.LOOPBACK}:{self._port}"
        trusted = self._folder / "ca.crt"
        config = self._folder / f"kubeconfig-{len(self._handler.users)}"
        trusted.write_bytes(authority)
        private_files.write(config, kubeconfig(url, authority, token).encode())
        return ClientAccess(url, token, config, trusted)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)


async def _deeply(work: Coroutine[Any, Any, _T]) -> _T:
    """Run in the thread of the server, whose stack is for objects of any depth."""
    with deep_calls():
        return await work
