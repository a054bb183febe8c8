"""Those who work: this process, several on this machine, or a cluster of Dask that exists."""

from __future__ import annotations

import functools
import hashlib
import multiprocessing
import os
import pickle
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, Final
from uuid import uuid4
from weakref import WeakSet

from celadon.cli.fleets.fleet_run import Engine
from celadon.cli.worker_pipes import possible_workers
from celadon.records import dataclass

DASK: Final = "dask://"


class EngineError(ValueError):
    """An engine that cannot be had; the text says why."""


def engine_for(address: str, jobs: int) -> Engine:
    """Return the engine that the command line names; `jobs` are the processes here, 0 for one a
    processor. Raises EngineError."""
    if address.startswith(DASK):
        return _DaskCluster(address.removeprefix(DASK))
    if address:
        raise EngineError(
            f"`{address}`: expected `{DASK}HOST:PORT`, the scheduler of a Dask cluster"
        )
    workers = possible_workers(jobs)
    return _ThisProcess() if workers == 1 else _Processes(workers)


class _ThisProcess:
    """Does everything at once."""

    workers = 1

    def share(self, value: object) -> object:
        return value

    def submit(self, work: Callable[..., object], *arguments: object) -> Future[object]:
        done: Future[Any] = Future()
        done.set_result(work(*arguments))
        return done

    def renew(self) -> None:
        """Nothing of it breaks."""

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class _Spooled:
    """A value that lies in a file. The digest comes by the pipe to the worker: what anybody else
    has put into the file is not unpickled."""

    path: str
    digest: bytes


@functools.lru_cache(maxsize=4)
def _read(spooled: _Spooled) -> object:
    with open(spooled.path, "rb") as stream:
        data = stream.read()
    if hashlib.sha256(data).digest() != spooled.digest:
        raise OSError(f"`{spooled.path}` has been changed")
    return pickle.loads(data)


def _with_values(work: Callable[..., object], *arguments: object) -> object:
    return work(*(_read(one) if isinstance(one, _Spooled) else one for one in arguments))


class _Processes:
    """Several processes on this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._folder = tempfile.TemporaryDirectory(prefix="celadon-fleet-")
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, multiprocessing.get_context("fork"))

    def share(self, value: object) -> object:
        path = os.path.join(self._folder.name, uuid4().hex)
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        with open(path, "wb") as stream:
            stream.write(data)
        return _Spooled(path, hashlib.sha256(data).digest())

    def submit(self, work: Callable[..., object], *arguments: object) -> Future[Any]:
        return self._pool.submit(_with_values, work, *arguments)

    def renew(self) -> None:
        """A pool whose process has died takes nothing more."""
        try:
            self._pool.submit(os.getpid).result()
        except Exception:  # noqa: BLE001 - it is thrown away whatever it says
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = self._new_pool()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._folder.cleanup()


class _DaskCluster:
    """The workers of a scheduler, which gives the work of those that die to others."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client  # late: an extra
        except ImportError:
            raise EngineError("a package is missing: pip install 'celadon[fleet]'") from None
        try:
            self._client = Client(f"tcp://{address}", set_as_default=False)
            self.workers = max(1, sum(self._client.nthreads().values()))
        except (OSError, ValueError) as error:
            raise EngineError(f"no scheduler of Dask at {address}: {error}") from None
        self._executor = self._client.get_executor(pure=False)
        self._shared: WeakSet[_Scattered] = WeakSet()

    def share(self, value: object) -> object:
        scattered = _Scattered(value, self._scattered(value))
        self._shared.add(scattered)
        return scattered

    def _scattered(self, value: object) -> Any:  # noqa: ANN401 - a future of Dask
        return self._client.scatter(value, broadcast=True, hash=False)

    def submit(self, work: Callable[..., Any], *arguments: object) -> Future[Any]:
        given = (one.future if isinstance(one, _Scattered) else one for one in arguments)
        return self._executor.submit(work, *given)  # type: ignore[no-any-return]

    def renew(self) -> None:
        """Send to others what was only in the memory of workers that are gone."""
        for one in self._shared:
            if one.future.status != "finished":
                one.future = self._scattered(one.value)

    def close(self) -> None:
        self._executor.shutdown(wait=False)
        self._client.close()


class _Scattered:
    """A value in the memory of workers, for as long as somebody here may give out work with it."""

    def __init__(self, value: object, future: Any) -> None:  # noqa: ANN401 - a future of Dask
        self.value, self.future = value, future
