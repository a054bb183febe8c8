"""A cluster as the source: a server in this process, and pages that come in odd ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from celadon.cli.audit import cluster_audit
from celadon.cli.audit.cluster_audit import counted, listed_resources, pages, path_of
from celadon.cli.output import Progress
from celadon.kube import GroupVersionResource
from celadon.kube.resources import known_resources
from celadon.testing import KubeApi
from celadon.webhook.cluster import (
    ClusterClient,
    ClusterError,
    ClusterRefusal,
    ClusterUnreachable,
    Page,
)
from celadon.webhook.cluster.cluster_client import USER_AGENT
from tests.apiserver.served_process import Served
from tests.cli.audit.dumps import Json, written
from tests.cli.files import binding, config_map, policy, run, write


def namespace(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    objects = [namespace("prod", env="prod"), namespace("dev")]
    objects += [config_map("wanted", "dev", x="ok")]
    objects += [config_map(f"c{n}", "prod", x="ok" if n % 2 else "no") for n in range(9)]
    objects += [config_map("d", "dev", x="no")]
    with KubeApi(objects) as server:
        yield server


def audited(
    api: KubeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str], *policies: Json
) -> Any:
    given = write(tmp_path / "p.json", *policies)
    words = ("audit", "-f", given, "--kubeconfig", str(api.kubeconfig), "-o", "json")
    _, out, err = run(capsys, *words)
    assert err == ""
    return json.loads(out)


def test_a_cluster(
    api: KubeApi,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_audit, "PAGE", 2)
    asked = []
    get = ClusterClient.request

    async def noted(self: ClusterClient, method: str, path: str, *rest: Any, **more: Any) -> Any:
        asked.append((method, path))
        return await get(self, method, path, *rest, **more)

    monkeypatch.setattr(ClusterClient, "request", noted)
    selector = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    ref: Json = {
        "paramRef": {"name": "wanted", "namespace": "dev", "parameterNotFoundAction": "Deny"}
    }
    judged = policy(
        expression="object.data.x == params.data.x",
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
    )
    found = audited(api, tmp_path, capsys, judged, binding(matchResources=selector, **ref))
    names = [one["object"]["name"] for one in found["results"]]
    assert names == ["c0", "c2", "c4", "c6", "c8"]
    assert all(one["object"]["uid"] for one in found["results"])
    assert (found["notices"], found["problems"]) == ([], [])
    assert {method for method, _ in asked} == {"GET"}
    assert "/api/v1/secrets" not in {path for _, path in asked}


def test_what_a_cluster_has_exists_whatever_it_lacks(
    api: KubeApi,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Servers that others have written may give objects no uid."""
    get = ClusterClient.page

    async def without_uids(self: ClusterClient, path: str, query: Mapping[str, str]) -> Page:
        page = await get(self, path, query)
        for one in page.items:
            one["metadata"].pop("uid", None)
        return page

    monkeypatch.setattr(ClusterClient, "page", without_uids)
    found = audited(api, tmp_path, capsys, policy(expression="object.data.x == '1'"), binding())
    assert found["problems"] == []
    assert found["results"]


class _Killed(BaseException):
    """As a signal: nothing catches it."""


def killed_after(
    pages: int, monkeypatch: pytest.MonkeyPatch, listed: list[tuple[str, str]] | None = None
) -> None:
    """Lets the client answer so many lists of ConfigMaps; what they asked for goes to `listed`."""
    page = ClusterClient.page
    left = pages

    async def counting(self: ClusterClient, path: str, query: Mapping[str, str]) -> Page:
        nonlocal left
        if path == "/api/v1/configmaps" and query.get("limit") != "1":
            if not left:
                raise _Killed
            left -= 1
            if listed is not None:
                listed.append((path, query.get("continue", "")))
        return await page(self, path, query)

    monkeypatch.setattr(ClusterClient, "page", counting)


def test_goes_on_where_it_was_stopped(
    api: KubeApi,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_audit, "PAGE", 2)
    given = write(tmp_path / "p.json", policy(), binding())
    words: tuple[str, ...] = (
        "audit",
        "-f",
        given,
        "--kubeconfig",
        str(api.kubeconfig),
        "-o",
        "json",
    )
    _, whole, _ = run(capsys, *words)
    state = tmp_path / "state"
    words = (*words, "--state", str(state))
    with monkeypatch.context() as patch:
        killed_after(3, patch)
        with pytest.raises(_Killed):
            run(capsys, *words)
    capsys.readouterr()
    assert len(list(state.iterdir())) == 3
    with monkeypatch.context() as patch:
        listed: list[tuple[str, str]] = []
        killed_after(99, patch, listed)
        assert run(capsys, *words)[1] == whole
    assert listed[0][1] != ""
    assert list(state.iterdir()) == []
    write(tmp_path / "p.json", policy(expression="true"), binding())
    with monkeypatch.context() as patch:
        killed_after(99, patch, listed := [])
        assert run(capsys, *words)[0] == 0
    assert listed[0][1] == ""


def test_a_folder_that_cannot_be_written(
    api: KubeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = write(tmp_path / "p.json", policy(), binding())
    words = ("audit", "-f", given, "--state", str(tmp_path / "p.json" / "in"))
    code, _, err = run(capsys, *words, "--kubeconfig", str(api.kubeconfig))
    assert code == 2
    assert "cannot be written: Not a directory" in err
    code, _, err = run(capsys, *words, given)
    assert code == 2
    assert "`--state` goes with a cluster, or with `--fleet`" in err


def test_knows_how_much_is_left(
    api: KubeApi,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster_audit, "PAGE", 5)
    told: list[tuple[int, float]] = []
    monkeypatch.setattr(Progress, "share", lambda _, count, share: told.append((count, share)))
    found = audited(api, tmp_path, capsys, policy(), binding())
    everything = found["summary"]["objects"]
    assert told == [(count, count / everything) for count, _ in told]
    assert told[-1] == (everything, 1.0)
    assert len(told) > 2


@pytest.mark.thorough
def test_the_server_saw_nothing_but_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the audit log of `celadon serve`, with everything that policies look up."""
    asks = "authorizer.group('').resource('pods').check('get').allowed()"
    labelled = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    given = write(tmp_path / "p.json", policy(expression=asks), binding(matchResources=labelled))
    log = tmp_path / "audit.jsonl"
    server = Served(tmp_path, "--audit-log", str(log))
    try:
        words = ("audit", "-f", given, "--kubeconfig", str(tmp_path / "kubeconfig"), "-o", "json")
        _, out, _ = run(capsys, *words)
    finally:
        server.end()
    assert json.loads(out)["problems"] == []
    events = [json.loads(line) for line in log.read_text().splitlines()]
    ours = [one for one in events if one.get("userAgent") == USER_AGENT.decode()]
    assert {one["verb"] for one in ours} <= {"get", "list"}
    assert {"configmaps", "namespaces", "clusterroles"} <= {
        (one.get("objectRef") or {}).get("resource") for one in ours
    }


def test_what_may_not_be_read_is_said(
    api: KubeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = write(tmp_path / "p.json", policy(), binding())
    kubeconfig = str(api.as_user("nobody").kubeconfig)
    code, out, _ = run(capsys, "audit", "-f", given, "--kubeconfig", kubeconfig, "-o", "json")
    assert code == 2
    problems = [one["message"] for one in json.loads(out)["problems"]]
    assert any("configmaps is forbidden" in one for one in problems)


def test_nobody_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = write(tmp_path / "p.json", policy(), binding())
    cluster = {"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "contexts": [context],
        "users": [{"name": "u", "user": {}}],
        "current-context": "x",
    }
    kubeconfig = write(tmp_path / "k", config)
    code, _, err = run(capsys, "audit", "-f", given, "--kubeconfig", kubeconfig)
    assert code == 2
    assert "connection refused" in err
    code, _, err = run(
        capsys, "audit", "-f", given, "--kubeconfig", kubeconfig, "--context", "gone"
    )
    assert code == 2
    assert "gone" in err


CONFIG_MAPS = known_resources().by_gvr(GroupVersionResource("", "v1", "configmaps"))
NAMES = [("a-b", "x"), ("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")]


class Server:
    """Two objects a page; what happens at the second one is told by `odd`."""

    def __init__(self, odd: str) -> None:
        self.odd = odd
        self.asked: list[str] = []

    async def page(self, path: str, query: Mapping[str, str]) -> Page:
        more = query.get("continue", "")
        self.asked.append(more)
        if more == "2" and self.odd:
            odd, self.odd = self.odd, ""
            match odd:
                case "goes on":
                    raise ClusterRefusal(410, {"metadata": {"continue": "newest-2"}})
                case "begins again":
                    raise ClusterRefusal(410, {})
                case "busy":
                    raise ClusterRefusal(429, {})
                case "says when":
                    raise ClusterRefusal(429, {}, 7)
                case "gone for a moment":
                    raise ClusterUnreachable("no")
                case _:
                    raise ClusterRefusal(403, {"message": "forbidden"})
        start = int(more.rpartition("-")[2] or 0)
        found = [written("ConfigMap", name, space) for space, name in NAMES[start : start + 2]]
        following = str(start + 2) if start + 2 < len(NAMES) else ""
        return Page(found, following)


ASKED = {
    "": ["", "2", "4"],
    "goes on": ["", "2", "newest-2", "4"],
    "begins again": ["", "2", "", "2", "4"],
    "busy": ["", "2", "2", "4"],
    "says when": ["", "2", "2", "4"],
    "gone for a moment": ["", "2", "2", "4"],
}


async def listed(server: Server) -> list[tuple[str, str]]:
    assert CONFIG_MAPS is not None
    found = []
    async for page, _ in pages(cast(ClusterClient, server), CONFIG_MAPS):
        found += [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in page]
    return found


@pytest.mark.parametrize("odd", ASKED)
def test_lists_go_on(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = waits(monkeypatch)
    server = Server(odd)
    assert asyncio.run(listed(server)) == NAMES
    assert server.asked == ASKED[odd]
    assert waited == {"busy": [1.0], "gone for a moment": [1.0], "says when": [7.0]}.get(odd, [])


def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Into which pauses go that are not made."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waited


def test_a_server_that_is_always_busy_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = waits(monkeypatch)

    class Busy(Server):
        async def page(self, path: str, query: Mapping[str, str]) -> Page:
            raise ClusterRefusal(429, {}, 2)

    with pytest.raises(ClusterRefusal):
        asyncio.run(listed(Busy("")))
    assert waited == [2.0] * 10 + [1.0, 4.0, 10.0]


def test_a_server_that_says_to_wait_for_years_is_not_obeyed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited = waits(monkeypatch)

    class Slow(Server):
        async def page(self, path: str, query: Mapping[str, str]) -> Page:
            raise ClusterRefusal(429, {}, 10**9)

    with pytest.raises(ClusterRefusal):
        asyncio.run(listed(Slow("")))
    assert waited == [60.0] * 10 + [1.0, 4.0, 10.0]


@pytest.mark.parametrize("objects", [[], [written("ConfigMap", "a")]])
def test_a_list_that_never_ends(objects: list[Json]) -> None:
    class Endless(Server):
        async def page(self, path: str, query: Mapping[str, str]) -> Page:
            self.asked.append("again")
            return Page(objects, f"{len(self.asked)}")

    server = Endless("")
    with pytest.raises(ClusterError, match="the list goes on and on, with nothing new in it"):
        asyncio.run(listed(server))
    assert 100 < len(server.asked) < 110


def test_a_list_that_begins_again_may_show_much_that_was_seen() -> None:
    """400 pages of one object each, forgotten behind the 300th."""

    class Forgetful(Server):
        async def page(self, path: str, query: Mapping[str, str]) -> Page:
            at = int(query.get("continue", "0"))
            self.asked.append("")
            if len(self.asked) == 300:
                raise ClusterRefusal(410, {})
            return Page([written("ConfigMap", f"{at:03}")], str(at + 1) if at < 399 else "")

    assert len(asyncio.run(listed(Forgetful("")))) == 400


def test_what_does_not_pass_ends_a_list() -> None:
    with pytest.raises(ClusterError, match="forbidden"):
        asyncio.run(listed(Server("no")))


class Odd:
    """Answers lists with this."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def page(self, path: str, query: Mapping[str, str]) -> Page:
        assert query == {"limit": "1"}
        if isinstance(self.answer, Exception):
            raise self.answer
        assert isinstance(self.answer, Page)
        return self.answer


COUNTED = [
    (Page([{}], "x", remaining=41), 42),
    (Page([{}]), 1),
    (ClusterUnreachable("no"), 0),
]


@pytest.mark.parametrize(("answer", "count"), COUNTED)
def test_counting(answer: Any, count: int) -> None:
    assert CONFIG_MAPS is not None
    assert asyncio.run(counted(cast(ClusterClient, Odd(answer)), CONFIG_MAPS)) == count


def test_every_object_in_one_list() -> None:
    paths = [path_of(one) for one in listed_resources(known_resources(all_versions=True))]
    assert len(paths) == len(set(paths))
    assert "/apis/apps/v1/deployments" in paths
    assert sum(path.endswith("/events") for path in paths) == 1
    assert sum(path.endswith("/cronjobs") for path in paths) == 1
