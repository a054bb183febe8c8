from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from celadon.apiserver.clientconfig import given_cluster
from celadon.kube.well_known_values import JSON_PATCH
from celadon.testing import KubeApi
from celadon.webhook.cluster import cluster_client
from celadon.webhook.cluster.cluster_client import ClusterClient, ClusterRefusal, ClusterUnreachable
from tests.apiserver.clientconfig.kubeconfigs import write_kubeconfig
from tests.apiserver.http.certificates import client_pair, new_authority
from tests.webhook.cluster.against_server import client_of, config_map, until

T = TypeVar("T")
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    with KubeApi() as started:
        yield started


def asked(api: KubeApi, work: Callable[[ClusterClient], Coroutine[Any, Any, Any]]) -> Any:
    async def run() -> Any:
        async with client_of(api.admin) as client:
            return await work(client)

    return asyncio.run(run())


def test_an_object_from_its_beginning_to_its_end(api: KubeApi) -> None:
    async def work(client: ClusterClient) -> None:
        made = await client.create(CONFIG_MAPS, config_map("one", a="1"))
        path = f"{CONFIG_MAPS}/one"
        assert (await client.get(path))["data"] == {"a": "1"}
        changed = await client.update(path, {**made, "data": {"a": "2"}})
        assert changed["data"] == {"a": "2"}
        with pytest.raises(ClusterRefusal, match="the object has been modified") as conflict:
            await client.update(path, {**made, "data": {"a": "3"}})
        assert conflict.value.code == 409
        patched = await client.patch(path, {"data": {"b": "4"}})
        assert patched["data"] == {"a": "2", "b": "4"}
        operations = [{"op": "remove", "path": "/data/a"}]
        assert (await client.patch(path, operations, JSON_PATCH))["data"] == {"b": "4"}
        await client.request("DELETE", path)
        with pytest.raises(ClusterRefusal, match='configmaps "one" not found') as missing:
            await client.get(path)
        assert missing.value.code == 404
        assert missing.value.status["reason"] == "NotFound"

    asked(api, work)


def test_a_list_comes_in_pages(api: KubeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_client, "PAGE", 2)
    api.create(*(config_map(f"page-{number}") for number in range(5)))

    async def work(client: ClusterClient) -> list[list[Any]]:
        return [list(page.items) async for page in client.pages(CONFIG_MAPS, {})]

    found = asked(api, work)
    assert all(len(page) <= 2 for page in found)
    assert {one["metadata"]["name"] for page in found for one in page} >= {"page-0", "page-4"}
    assert {(one["apiVersion"], one["kind"]) for page in found for one in page} == {
        ("v1", "ConfigMap")
    }


def listed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pages: Iterable[cluster_client.Page]
) -> int:
    """How many pages of a list are read of a server that sends these."""
    sent = iter(pages)

    async def page(self: ClusterClient, path: str, query: Any) -> cluster_client.Page:
        return next(sent)

    async def run() -> int:
        path = write_kubeconfig(tmp_path / "config", {}, server="http://127.0.0.1:1")
        client = ClusterClient(given_cluster(path, "", {}, time.time))
        count = 0
        async with aclosing(client.pages("/x", {})) as found:
            async for _ in found:
                count += 1
        return count

    monkeypatch.setattr(ClusterClient, "page", page)
    return asyncio.run(run())


def a_page(items: int = 0, more: str = "more", size: int = 1) -> cluster_client.Page:
    return cluster_client.Page([{}] * items, more, size=size)


def test_a_list_may_have_empty_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not more of them in a row, and not more bytes in all, than make sense."""
    idle = [a_page()] * cluster_client.IDLE_PAGES
    full, last = a_page(items=1), a_page(more="")
    assert listed(monkeypatch, tmp_path, [*idle, full, *idle, last]) == 2 * len(idle) + 2
    with pytest.raises(
        ClusterUnreachable, match=r"^GET /x: the list goes on and on, with nothing new in it$"
    ):
        listed(monkeypatch, tmp_path, [full, *idle, a_page(), last])
    most = a_page(items=1, size=cluster_client.MAX_ANSWER_BYTES - 1)
    assert listed(monkeypatch, tmp_path, [most, full, last]) == 3
    text = f"^GET /x: a list of more than {cluster_client.MAX_ANSWER_BYTES + 1} bytes$"
    with pytest.raises(ClusterUnreachable, match=text):
        listed(monkeypatch, tmp_path, [most, full, full, last])


def test_a_watch_tells_what_happens(api: KubeApi) -> None:
    async def work(client: ClusterClient) -> tuple[list[str], list[str]]:
        opened: list[str] = []
        query = {"fieldSelector": "metadata.name=watched", "timeoutSeconds": "1"}
        seen = []
        watch = client.watch(CONFIG_MAPS, query, 10, lambda: opened.append("opened"))
        async with aclosing(watch) as events:
            first = asyncio.ensure_future(anext(events))
            await until(lambda: opened)
            await client.create(CONFIG_MAPS, config_map("watched"))
            seen.append((await first)["type"])
            await client.request("DELETE", f"{CONFIG_MAPS}/watched")
            seen += [event["type"] async for event in events]
        return opened, seen

    assert asked(api, work) == (["opened"], ["ADDED", "DELETED"])


def test_a_watch_that_is_refused(api: KubeApi) -> None:
    async def work(client: ClusterClient) -> None:
        with pytest.raises(ClusterRefusal, match="could not find the requested resource") as caught:
            async for _ in client.watch("/api/v1/nothing", {}, 10, lambda: None):
                pass
        assert caught.value.code == 404

    asked(api, work)


def test_a_silent_watch_is_given_up(api: KubeApi) -> None:
    async def work(client: ClusterClient) -> None:
        with pytest.raises(
            ClusterUnreachable, match=f"^watch of {CONFIG_MAPS}: nothing came in 0.2s$"
        ):
            async for _ in client.watch(CONFIG_MAPS, {"resourceVersion": ""}, 0.2, lambda: None):
                pass

    api.request("DELETE", CONFIG_MAPS)
    asked(api, work)


def test_a_token_that_ends_is_read_again(api: KubeApi, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    authority = str(api.admin.certificate_authority)
    path = write_kubeconfig(
        tmp_path / "config",
        {"tokenFile": "token"},
        **{"server": api.url, "certificate-authority": authority},
    )

    async def run() -> None:
        client = ClusterClient(given_cluster(path, "", {}, time.time))
        with pytest.raises(ClusterRefusal, match="Unauthorized"):
            await client.get(CONFIG_MAPS)
        token.write_text(api.admin.token)
        assert (await client.get(CONFIG_MAPS))["kind"] == "ConfigMapList"
        await client.aclose()

    asyncio.run(run())


async def _closed(client: ClusterClient, message: str) -> None:
    with pytest.raises(ClusterUnreachable, match=message):
        await client.get("/version")
    await client.aclose()


def test_nobody_is_there(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "config", {})
    client = ClusterClient(given_cluster(path, "", {}, time.time))
    message = r"GET /version: dial tcp 127.0.0.1:1: connect: connection refused"
    asyncio.run(_closed(client, message))


def test_a_server_that_nobody_trusts(api: KubeApi, tmp_path: Path) -> None:
    (tmp_path / "ca").write_bytes(new_authority().certificate)
    cluster = {"server": api.url, "certificate-authority": "ca"}
    path = write_kubeconfig(tmp_path / "config", {}, **cluster)
    client = ClusterClient(given_cluster(path, "", {}, time.time))
    asyncio.run(_closed(client, "certificate signed by unknown authority"))


def test_a_server_under_another_name(api: KubeApi, tmp_path: Path) -> None:
    authority = str(api.admin.certificate_authority)
    cluster = {"server": api.url, "certificate-authority": authority}
    path = write_kubeconfig(tmp_path / "config", {}, **cluster, **{"tls-server-name": "other"})
    client = ClusterClient(given_cluster(path, "", {}, time.time))
    asyncio.run(_closed(client, "certificate is valid for .*, not other"))


def test_a_client_certificate_is_shown(tmp_path: Path) -> None:
    authority = new_authority()
    (tmp_path / "ca").write_bytes(authority.certificate)
    pair = client_pair(authority, "someone", "some")
    (tmp_path / "crt").write_bytes(pair.certificate)
    (tmp_path / "key").write_bytes(pair.key)
    shown: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found = writer.get_extra_info("peercert")
        shown.append(dict(one[0] for one in found["subject"])["commonName"])
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        writer.close()

    async def run() -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "crt", tmp_path / "key")
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(tmp_path / "ca")
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        user = {"client-certificate": "crt", "client-key": "key"}
        cluster = {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}
        path = write_kubeconfig(tmp_path / "config", user, **cluster)
        client = ClusterClient(given_cluster(path, "", {}, time.time))
        with pytest.raises(ClusterUnreachable, match="GET /version: the answer is no JSON object"):
            await client.get("/version")
        await client.aclose()
        server.close()
        await server.wait_closed()

    asyncio.run(run())
    assert shown == ["someone"]


@pytest.mark.parametrize("fits", [True, False])
def test_how_long_an_answer_may_be(
    fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"a": "bcdefghij"}'
    monkeypatch.setattr(cluster_client, "MAX_ANSWER_BYTES", len(body) - (not fits))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        path = write_kubeconfig(tmp_path / "config", {}, server=f"http://127.0.0.1:{port}")
        client = ClusterClient(given_cluster(path, "", {}, time.time))
        try:
            if fits:
                assert await client.get("/api") == {"a": "bcdefghij"}
            else:
                text = f"^an answer of more than {len(body) - 1} bytes$"
                with pytest.raises(ClusterUnreachable, match=text):
                    await client.get("/api")
        finally:
            await client.aclose()
            server.close()
            await server.wait_closed()

    asyncio.run(run())


def test_when_to_ask_again(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 3\r\n")
        writer.write(b"content-length: 0\r\n\r\n")
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        path = write_kubeconfig(tmp_path / "config", {}, server=f"http://127.0.0.1:{port}")
        client = ClusterClient(given_cluster(path, "", {}, time.time))
        with pytest.raises(ClusterRefusal) as refused:
            await client.get("/api")
        await client.aclose()
        server.close()
        await server.wait_closed()
        assert (refused.value.code, refused.value.retry_after) == (429, 3)

    asyncio.run(run())


OK = b"HTTP/1.1 200 OK\r\n"


def answered(
    tmp_path: Path, work: Callable[[ClusterClient], Awaitable[T]], *parts: bytes, ends: bool = True
) -> T:
    """What a client makes of the bytes of a server, each part in a write of its own; then the
    connection ends, or nothing more comes."""

    answering = set[asyncio.Task[Any]]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering.update(filter(None, [asyncio.current_task()]))
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0.01)
            if not ends:
                await reader.read()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def run() -> T:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        path = write_kubeconfig(tmp_path / "config", {}, server=f"http://127.0.0.1:{port}")
        client = ClusterClient(given_cluster(path, "", {}, time.time))
        try:
            return await work(client)
        finally:
            await client.aclose()
            await asyncio.gather(*answering)
            server.close()
            await server.wait_closed()

    return asyncio.run(run())


async def events(client: ClusterClient) -> list[Any]:
    return [event async for event in client.watch("/x", {}, 60, lambda: None)]


def test_events_come_whole_whatever_they_are_cut_into(tmp_path: Path) -> None:
    def event(name: str) -> bytes:
        return json.dumps({"type": "ADDED", "object": {"metadata": {"name": name}}}).encode()

    whole = b"\n".join((event("a"), b"", event("b"), event("c"), b""))
    for cut in (1, 7, len(event("a")), len(event("a")) + 1, len(whole) - 1):
        found = answered(tmp_path, events, OK + b"\r\n", whole[:cut], whole[cut:])
        names = [one["object"]["metadata"]["name"] for one in found]
        assert names == ["a", "b", "c"], cut
    # What is behind the last line is no event.
    assert len(answered(tmp_path, events, OK + b"\r\n", event("a") + b"\n", event("b"))) == 1


UNUSABLE: list[tuple[bytes, str]] = [
    (b"", "GET /x: EOF"),
    (OK + b"content-length: 9\r\n\r\n{}", "GET /x: peer closed connection without sending complete "
     "message body (received 2 bytes, expected 9)"),
    (OK + b"content-length: 2\r\n\r\n[]", "GET /x: the answer is no JSON object"),
    (OK + b"content-length: 1\r\n\r\n{", "GET /x: the answer is no JSON object"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "text"), UNUSABLE)
def test_answers_that_cannot_be_used(written: bytes, text: str, tmp_path: Path) -> None:
    with pytest.raises(ClusterUnreachable) as caught:
        answered(tmp_path, lambda client: client.get("/x"), written)
    assert str(caught.value) == text


@pytest.mark.parametrize("fits", [True, False])
def test_how_long_an_event_may_be(
    fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = b'{"type": "ADDED", "object": {}}'
    monkeypatch.setattr(cluster_client, "MAX_LINE_BYTES", len(line) - (not fits))
    if fits:
        assert len(answered(tmp_path, events, OK + b"\r\n", line, b"\n")) == 1
        return
    with pytest.raises(ClusterUnreachable) as caught:
        answered(tmp_path, events, OK + b"\r\n", line, b"\n")
    assert str(caught.value) == f"an event of more than {len(line) - 1} bytes"


def test_a_server_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_client, "REQUEST_SECONDS", 0.05)
    with pytest.raises(ClusterUnreachable) as caught:
        answered(tmp_path, lambda client: client.page("/x", {}), ends=False)
    assert str(caught.value) == "GET /x: no answer in 0.05s"


def test_a_watch_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(ClusterUnreachable, match=r"^watch of /x: "):
        answered(tmp_path, events, OK + b"\r\n", b'{"type": 5}\n')
