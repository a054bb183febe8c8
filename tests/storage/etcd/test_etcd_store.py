"""What the store on etcd does beyond the contract: other writers, failing members, refusals."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.http.server_settings import CredentialsFolder
from celadon.storage import Committed, Compacted, ServiceError, StoreClosed, WatchLost, put, update
from celadon.storage.contract import ServiceFull, ServiceUnavailable, TooLarge
from celadon.storage.etcd import EtcdSettings, EtcdStore, open_etcd, parse_endpoints
from celadon.storage.etcd.etcd_client import Endpoint, EtcdMirror
from celadon.storage.keyspace import Keyspace
from tests.apiserver.http.certificates import client_pair
from tests.etcd.etcd_members import (
    ONE_QUICK,
    Cluster,
    cluster,
    free_ports,
    memory_folder,
    planned_cluster,
)


@pytest.fixture(scope="module")
def one() -> Iterator[Cluster]:
    with cluster() as started:
        yield started


Opener = Callable[..., Coroutine[Any, Any, EtcdStore]]


def on(urls: str, work: Callable[[Opener], Coroutine[Any, Any, None]]) -> None:
    """`work` gets a function that opens stores on these URLs, which are closed in the end."""

    async def run() -> None:
        async with AsyncExitStack() as stack:

            async def opened(**more: Any) -> EtcdStore:
                store = await open_etcd(EtcdSettings(parse_endpoints(urls), **more))
                stack.push_async_callback(store.aclose)
                return store

            await work(opened)

    asyncio.run(run())


async def written(store: EtcdStore, key: str, value: bytes = b"") -> int:
    outcome = await asyncio.wrap_future(store.submit(put(key, value)))
    assert isinstance(outcome, Committed)
    return outcome.revision


async def synced(store: EtcdStore) -> int:
    return await asyncio.wrap_future(store.synced())


def test_a_store_that_is_closed_in_its_loop_does_not_wait_there(one: Cluster) -> None:
    async def work(opened: Opener) -> None:
        store = await opened(prefix="/closed")
        store.close()
        with pytest.raises(StoreClosed):
            await written(store, "/a")

    on(one.urls, work)


def test_one_sees_what_another_has_written(one: Cluster) -> None:
    async def work(opened: Opener) -> None:
        first, second = await opened(prefix="/two"), await opened(prefix="/two")
        watch, revision = second.watch("/a"), 0
        for number in range(20):
            revision = await written(first, "/a", str(number).encode())
            assert await synced(second) >= revision
            entry = second.get("/a")
            assert entry is not None
            assert (entry.mod_revision, entry.value) == (revision, str(number).encode())
            assert [event.revision for event in watch.take().events] == [revision]
        stale = await asyncio.wrap_future(second.submit(update("/a", b"", revision - 1)))
        assert not isinstance(stale, Committed)

    on(one.urls, work)


def test_keys_of_others_move_the_revision_and_are_not_seen(one: Cluster) -> None:
    async def work(opened: Opener) -> None:
        ours = await opened(root="/registry", prefix="/ours")
        theirs = await opened(prefix="")
        watch = ours.watch("")
        revision = await written(theirs, "/other/a")
        assert await synced(ours) == revision
        assert watch.take().events == ()
        assert ours.range("").entries == ()
        await written(ours, "/registry/a", b"1")
        await synced(theirs)
        entry = theirs.get("/ours/a")
        assert entry is not None
        assert entry.value == b"1"
        with pytest.raises(ValueError, match="does not begin with /registry"):
            await written(ours, "/a")

    on(one.urls, work)


def test_who_comes_later_has_the_same_history(one: Cluster) -> None:
    async def work(opened: Opener) -> None:
        first = await opened(prefix="/later")
        revisions = [await written(first, "/a", str(n).encode()) for n in range(5)]
        second = await opened(prefix="/later")
        for number, revision in enumerate(revisions):
            entry = second.get("/a", revision)
            assert entry is not None
            assert entry.value == str(number).encode()
        await asyncio.wrap_future(first.compact(revisions[2]))
        third = await opened(prefix="/later")
        with pytest.raises(Compacted):
            third.get("/a", revisions[1])
        assert third.get("/a", revisions[2]) == first.get("/a", revisions[2])

    on(one.urls, work)


@pytest.mark.parametrize("page", [1, 2, 3, 6, 7])
def test_what_is_there_is_read_in_pages(
    one: Cluster, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    """Each entry once: also where one key begins with another, or a page ends with the last."""
    monkeypatch.setattr("celadon.storage.etcd.etcd_client.PAGE", page)
    prefix = f"/page{page}"
    keys = ["/a", "/a\x00", "/a/b", "/b", "/c", "/d"]

    async def work(opened: Opener) -> None:
        first = await opened(prefix=prefix)
        for key in keys:
            await written(first, key, key.encode())
        await written(await opened(prefix=f"/pagf{page}"), "/a")
        second = await opened(prefix=prefix)
        assert [(entry.key, entry.value.decode()) for entry in second.range("").entries] == [
            (key, key) for key in keys
        ]

    on(one.urls, work)


def test_bytes_that_were_submitted_come_back(one: Cluster) -> None:
    async def work(opened: Opener) -> None:
        store, value = await opened(prefix="/bytes"), b"as they are"
        await written(store, "/a", value)
        entry = store.get("/a")
        assert entry is not None
        assert entry.value is value

    on(one.urls, work)


def test_refusals_are_etcds(one: Cluster) -> None:
    async def work(opened: Opener) -> None:
        store = await opened(prefix="/large")
        with pytest.raises(TooLarge, match="request is too large"):
            await written(store, "/a", bytes(1_800_000))
        assert await written(store, "/a", bytes(1 << 20))

    on(one.urls, work)


def filling(number: int) -> bytes:
    return bytes([number]) * (256 << 10)


def test_a_full_etcd_refuses_and_keeps_what_it_has() -> None:
    async def work(opened: Opener) -> None:
        store = await opened()
        kept: list[bytes] = []

        async def fill() -> None:
            while len(kept) < 100:
                await written(store, "/a", filling(len(kept)))
                kept.append(filling(len(kept)))

        with pytest.raises(ServiceFull, match="database space exceeded"):
            await fill()
        assert len(kept) > 3
        await synced(store)
        entry = store.get("/a")
        assert entry is not None
        # etcd looks twice: before it takes a write, and after, when it has carried it out already.
        assert entry.value in {kept[-1], filling(len(kept))}
        assert store.range("").remaining == 0

    with cluster(options=(*ONE_QUICK, "--quota-backend-bytes", str(4 << 20))) as members:
        on(members.urls, work)


@pytest.mark.thorough
def test_the_next_member_goes_on_where_one_dies() -> None:
    with cluster(3) as members:

        async def work(opened: Opener) -> None:
            store = await opened()
            watch, seen = store.watch("/"), list[int]()
            acknowledged: list[int] = []
            for number, member in enumerate(members.members[:2]):
                for _ in range(10):
                    acknowledged.append(await written(store, f"/{number}"))
                member.kill()
                while True:
                    try:
                        acknowledged.append(await written(store, f"/{number}"))
                        break
                    except ServiceUnavailable:
                        await asyncio.sleep(0.05)
                member.start()
                await asyncio.to_thread(member.wait)
            await synced(store)
            seen += [event.revision for event in watch.take().events]
            assert seen == sorted(set(seen))
            assert set(acknowledged) <= set(seen)

        on(members.urls, work)


def test_without_etcd_reads_go_on_and_writes_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celadon.storage.etcd.etcd_store.MOST_SILENCE", 0.0)
    with cluster() as members:

        async def work(opened: Opener) -> None:
            store = await opened()
            await written(store, "/a", b"1")
            members.members[0].kill()
            monkeypatch.setattr("celadon.storage.etcd.etcd_client.CALL_SECONDS", 0.5)
            with pytest.raises(ServiceUnavailable):
                await written(store, "/a", b"2")
            with pytest.raises(ServiceError):
                await synced(store)
            entry = store.get("/a")
            assert entry is not None
            assert entry.value == b"1"
            assert store.trouble().startswith("etcd has not answered for")

        on(members.urls, work)


def test_watches_end_when_changes_are_missed(one: Cluster) -> None:
    async def work(opened: Opener) -> None:
        store = await opened(prefix="/missed")
        watch = store.watch("/")
        store.begin_with(Keyspace())
        with pytest.raises(WatchLost):
            watch.take()

    on(one.urls, work)


def test_certificates_on_both_sides(tmp_path: Path) -> None:
    kept = CredentialsFolder(tmp_path)
    ours = kept.server((), datetime.now(UTC))
    client = client_pair(kept.authority(datetime.now(UTC)), "celadon", "servers")
    (tmp_path / "client.crt").write_bytes(client.certificate)
    (tmp_path / "client.key").write_bytes(client.key)
    assert ours.certificate == (tmp_path / "server.crt").read_bytes()
    ca, certificate, private = (tmp_path / name for name in ("ca.crt", "client.crt", "client.key"))
    options = (
        *("--client-cert-auth", "--trusted-ca-file", str(ca)),
        *("--cert-file", str(tmp_path / "server.crt")),
        *("--key-file", str(tmp_path / "server.key")),
    )

    async def run(address: str) -> None:
        endpoint = (Endpoint(address, is_secure=True),)
        store = await open_etcd(EtcdSettings(endpoint, ca, certificate, private))
        try:
            assert await written(store, "/a") == 2
        finally:
            await store.aclose()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("celadon.storage.etcd.etcd_client.CALL_SECONDS", 1.0)
            with pytest.raises(ServiceUnavailable):
                await open_etcd(EtcdSettings(endpoint, ca))

    with memory_folder() as folder:
        (port,) = free_ports(1)
        member = planned_cluster(1, (*ONE_QUICK, *options), Path(folder)).members[0]
        url = f"https://127.0.0.1:{port}"
        member.arguments = [url if one == member.client_url else one for one in member.arguments]
        member.start()
        try:
            asyncio.run(run(f"127.0.0.1:{port}"))
        finally:
            member.kill()


def test_a_member_that_sends_nothing_at_first_is_waited_for(
    one: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow, calls = EtcdMirror.follow, itertools.count()

    async def slow(mirror: EtcdMirror) -> None:
        if next(calls) == 0:
            await asyncio.sleep(0.5)
            raise ServiceUnavailable("too late")
        await follow(mirror)

    async def work(opened: Opener) -> None:
        await written(await opened(), "/slow/one")
        monkeypatch.setattr(EtcdMirror, "follow", slow)
        monkeypatch.setattr("celadon.storage.etcd.etcd_client.ATTEMPT_SECONDS", 0.3)
        assert (await opened()).get("/slow/one") is not None

    on(one.urls, work)
