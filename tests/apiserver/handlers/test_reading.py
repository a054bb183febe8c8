"""Objects and lists at a revision."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from celadon.apiserver.handlers.read import COMPONENTS, ObjectList, probed
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.request_info import ContinueToken, list_options
from celadon.kube import StatusError, metadata
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running
from tests.apiserver.serving import Shelf, endpoint, resource
from tests.apiserver.webhook_routes.loopback import certificate, http, server_context, serving


async def listed(shelf: Shelf, query: str = "", namespace: str = "a") -> ObjectList:
    request = HttpRequest("GET", f"/?{query}")
    return await shelf.reader.collection(endpoint(namespace), list_options(request, resource()))


def names(found: ObjectList) -> list[str]:
    return [metadata.name(obj) for obj in found.objects]


async def filled() -> Shelf:
    shelf = Shelf()
    for name in "cabd":
        await shelf.create(name, k="even" if name in "bd" else "odd")
    await shelf.create("z", "b")
    return shelf


def test_lists_are_in_the_order_of_keys_and_by_namespace() -> None:
    async def scenario() -> None:
        shelf = await filled()
        assert names(await listed(shelf)) == ["a", "b", "c", "d"]
        assert names(await listed(shelf, namespace="")) == ["a", "b", "c", "d", "z"]
        assert names(await listed(shelf, "labelSelector=k%3Deven")) == ["b", "d"]
        assert names(await listed(shelf, "fieldSelector=metadata.name%3Dc")) == ["c"]

    asyncio.run(scenario())


def test_pages_are_of_one_revision() -> None:
    async def scenario() -> None:
        shelf = await filled()
        first = await listed(shelf, "limit=3")
        assert (names(first), first.remaining) == (["a", "b", "c"], 1)
        await shelf.delete("d")
        second = await listed(shelf, f"limit=3&continue={first.continue_token}")
        assert (names(second), second.revision) == (["d"], first.revision)
        assert second.meta() == {"resourceVersion": str(first.revision)}

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("namespace", "fields", "chosen", "ends"),
    [
        ("a", "metadata.name=b", ["b"], True),
        ("a", "metadata.name=b,metadata.name!=c", ["b"], True),
        ("a", "metadata.name=b,metadata.name=c", [], True),
        ("a", "metadata.name=x", [], True),
        ("a", "metadata.name=b,metadata.namespace=z", [], True),
        ("a", "metadata.name=b/c", [], True),
        ("", "metadata.name=b,metadata.namespace=a", ["b"], True),
        ("", "metadata.name=b", ["b"], False),
        ("", "metadata.name=b,metadata.namespace=a/b", [], True),
        ("a", "metadata.name!=a", ["b"], False),
    ],
)
def test_no_page_ends_behind_the_only_name_that_is_selected(
    namespace: str, fields: str, chosen: list[str], *, ends: bool
) -> None:
    async def scenario() -> None:
        query = urlencode({"limit": 1, "fieldSelector": fields})
        page = await listed(await filled(), query, namespace)
        assert (names(page), not page.continue_token) == (chosen, ends)

    asyncio.run(scenario())


def test_a_page_is_filled_with_what_is_selected() -> None:
    async def scenario() -> None:
        shelf = await filled()
        first = await listed(shelf, "limit=1&labelSelector=k%3Deven", "")
        assert (names(first), first.remaining) == (["b"], None)
        query = f"limit=1&labelSelector=k%3Deven&continue={first.continue_token}"
        assert names(await listed(shelf, query, "")) == ["d"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("resourceVersion=3&resourceVersionMatch=Exact", ["a", "c"]),
        ("resourceVersion=3&limit=9", ["a", "c"]),
        ("resourceVersion=3", ["a", "b", "c", "d"]),
        ("resourceVersion=3&limit=9&resourceVersionMatch=NotOlderThan", ["a", "b", "c", "d"]),
        ("resourceVersion=0&limit=1", ["a", "b", "c", "d"]),
    ],
)
def test_what_a_revision_means(query: str, wanted: list[str]) -> None:
    async def scenario() -> None:
        assert names(await listed(await filled(), query)) == wanted

    asyncio.run(scenario())


def test_a_token_of_any_negative_revision_goes_on_with_what_is_there() -> None:
    async def scenario() -> None:
        shelf = await filled()
        token = ContinueToken(-7, "c").text()
        assert names(await listed(shelf, f"continue={token}")) == ["c", "d"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("resourceVersion=x", 400, "invalid resource version: resourceVersion: Invalid value"),
        ("continue=x", 400, "invalid continue token: continue key is not valid"),
        (
            f"resourceVersion={'9' * 5000}",
            400,
            'strconv.ParseUint: parsing "9+": value out of range$',
        ),
    ],
)
def test_refused_lists(query: str, code: int, message: str) -> None:
    async def scenario() -> None:
        with pytest.raises(StatusError, match=message) as refused:
            await listed(await filled(), query)
        assert refused.value.code == code

    asyncio.run(scenario())


def test_a_list_that_is_too_old_offers_a_way_to_go_on() -> None:
    async def scenario() -> None:
        shelf = await filled()
        first = await listed(shelf, "limit=2")
        await shelf.create("e")
        shelf.store.compact(shelf.store.revision()).result()
        with pytest.raises(StatusError) as refused:
            await listed(shelf, f"continue={first.continue_token}")
        given: Any = refused.value.status.to_json()
        assert (given["code"], given["reason"]) == (410, "Expired")
        rest = await listed(shelf, f"continue={given['metadata']['continue']}")
        assert names(rest) == ["c", "d", "e"]

    asyncio.run(scenario())


def test_a_missing_object_and_a_version_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celadon.apiserver.handlers.read.WAIT_SECONDS", 0.0)

    async def scenario() -> None:
        shelf = await filled()
        with pytest.raises(StatusError, match='configmaps "none" not found'):
            await shelf.reader.get(endpoint("a", "none", "get"), HttpRequest("GET", "/"))
        request = HttpRequest("GET", "/?resourceVersion=999")
        with pytest.raises(StatusError, match="Too large resource version: 999") as refused:
            await shelf.reader.get(endpoint("a", "a", "get"), request)
        assert refused.value.code == 504

    asyncio.run(scenario())


def test_custom_resources_are_read_by_the_schema_that_is_served_now(running: Running) -> None:
    """Objects that were stored by a schema before it are pruned, and get its defaults."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    before: dict[str, Any] = {"a": {"type": "string"}, "b": {"type": "string"}}
    after = {"a": {"type": "string"}, "c": {"type": "integer", "default": 7}}

    def definition(properties: dict[str, Any]) -> dict[str, Any]:
        spec = {"type": "object", "properties": properties}
        schema = {"type": "object", "properties": {"spec": spec}}
        version = {"name": "v1", "served": True, "storage": True}
        names = {"plural": "shapes", "singular": "shape", "kind": "Shape"}
        versions = [{**version, "schema": {"openAPIV3Schema": schema}}]
        group = {"group": "read.io", "scope": "Cluster", "names": names}
        return {"metadata": {"name": "shapes.read.io"}, "spec": {**group, "versions": versions}}

    shape = {"apiVersion": "read.io/v1", "kind": "Shape", "metadata": {"name": "s"}}
    ask(running, "POST", definitions, definition(before))
    running.settle()
    path = "/apis/read.io/v1/shapes"
    assert ask(running, "POST", path, {**shape, "spec": {"a": "1", "b": "2"}}).code == 201
    ask(
        running,
        "PATCH",
        f"{definitions}/shapes.read.io",
        definition(after),
        content_type="application/merge-patch+json",
    )
    running.settle()
    assert read(ask(running, "GET", f"{path}/s"))["spec"] == {"a": "1", "c": 7}
    (listed,) = read(ask(running, "GET", path))["items"]
    assert listed["spec"] == {"a": "1", "c": 7}
    ask(running, "DELETE", f"{definitions}/shapes.read.io")


@pytest.mark.parametrize(
    ("token", "remaining", "wanted"),
    [
        ("", None, {}),
        ("", 0, {}),
        ("t", None, {"continue": "t"}),
        ("t", 3, {"continue": "t", "remainingItemCount": 3}),
    ],
)
def test_metadata_of_lists(token: str, remaining: int | None, wanted: dict[str, Any]) -> None:
    made = ObjectList((), 7, token, remaining)
    assert made.meta() == {"resourceVersion": "7", **wanted}


# --- Gets that are known -----------------------------------------------------

RBAC = "/apis/rbac.authorization.k8s.io/v1"
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
APPS = "/apis/apps/v1/namespaces/default"
MAPS = "/api/v1/namespaces/default/configmaps"
READER = {"metadata": {"name": "reader"}, "rules": [{"apiGroups": ["", "apps"]}]}
READER["rules"] = [{"apiGroups": ["", "apps"], "resources": ["*"], "verbs": ["get"]}]
BINDING = {
    "metadata": {"name": "readers"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "devs"}],
}
KEPT = {"metadata": {"name": "kept"}, "data": {"a": "1"}}
REVISION = {"metadata": {"name": "kept"}, "revision": 1, "data": {"a": 1}}
FLOW = {
    "metadata": {"name": "alices"},
    "spec": {
        "matchingPrecedence": 100,
        "priorityLevelConfiguration": {"name": "workload-high"},
        "rules": [
            {
                "subjects": [{"kind": "User", "user": {"name": "alice"}}],
                "resourceRules": [
                    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
                ],
            }
        ],
    },
}
ELSEWHERE = {
    "spec": {
        "service": {"name": "other", "namespace": "default"},
        "insecureSkipTLSVerify": True,
    }
}


@pytest.fixture
def shop() -> Iterator[Running]:
    """A server of its own, where alice may read."""
    running = Running()
    for path, body in (
        (f"{RBAC}/clusterroles", READER),
        (f"{RBAC}/clusterrolebindings", BINDING),
        (MAPS, KEPT),
        (f"{APPS}/controllerrevisions", REVISION),
    ):
        assert ask(running, "POST", path, body).code == 201
    running.settle()  # what controllers write makes roles and APIServices new ones
    yield running
    running.close()


def known(running: Running, path: str, token: str = "alice-token") -> HttpAnswer | None:
    """The answer that needs no layers."""

    async def answer() -> HttpAnswer | None:
        headers = [("authorization", f"Bearer {token}")]
        found: HttpAnswer | None = running.server.gets.answer(HttpRequest("GET", path, headers))
        return found

    at_once: HttpAnswer | None = running.wait_for(answer())
    return at_once


def facts(answer: HttpAnswer) -> tuple[object, ...]:
    """All that is the same in an answer to the same request."""
    headers = [(name, value) for name, value in answer.headers if name != "Audit-Id"]
    return answer.code, answer.content_type, answer.body, headers, answer.audit, answer.user


Change = tuple[str, str, Any, str]
MERGE = "application/merge-patch+json"


@pytest.mark.parametrize(
    ("path", "change", "code"),
    [
        (f"{MAPS}/kept", ("PATCH", f"{MAPS}/kept", {"data": {"a": "2"}}, MERGE), 200),
        (f"{MAPS}/kept", ("DELETE", f"{MAPS}/kept", None, ""), 404),
        (f"{MAPS}/kept", ("DELETE", f"{RBAC}/clusterrolebindings/readers", None, ""), 403),
        (
            f"{MAPS}/kept",
            ("PATCH", f"{RBAC}/clusterroles/reader", {"rules": []}, MERGE),
            403,
        ),
        (f"{MAPS}/kept", ("POST", f"{FLOWS}/flowschemas", FLOW, ""), 200),
        (
            f"{APPS}/controllerrevisions/kept",
            ("PATCH", "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps", ELSEWHERE, MERGE),
            503,
        ),
    ],
    ids=["changed", "deleted", "binding", "role", "flow", "elsewhere"],
)
def test_a_known_get_is_answered_as_all_layers_would(
    shop: Running, path: str, change: Change, code: int
) -> None:
    """Before something has changed that it depends on, and after that."""
    first = ask(shop, "GET", path, token="alice-token")
    assert known(shop, path) is None, "asked once"
    ask(shop, "GET", path, token="alice-token")
    answer = known(shop, path)
    assert answer is not None
    assert facts(answer) == facts(first)
    assert answer.headers[0] != first.headers[0], "each has an audit id of its own"
    method, at, body, content_type = change
    headers = {"content_type": content_type} if content_type else {}
    assert ask(shop, method, at, body, **headers).code in (200, 201)
    after = ask(shop, "GET", path, token="alice-token")
    assert after.code == code
    assert facts(after) == facts(ask(shop, "GET", path, token="alice-token", accept="*/*"))
    assert facts(after) != facts(first)


def test_a_known_get_ends_with_its_token(shop: Running) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    assert ask(shop, "POST", accounts, {"metadata": {"name": "robot"}}).code == 201
    everybody = {**BINDING, "metadata": {"name": "everybody"}}
    everybody["subjects"] = [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}
    ]
    assert ask(shop, "POST", f"{RBAC}/clusterrolebindings", everybody).code == 201
    made = ask(shop, "POST", f"{accounts}/robot/token", {"spec": {}})
    token = read(made)["status"]["token"]
    answers = [ask(shop, "GET", f"{MAPS}/kept", token=token) for _ in range(2)]
    answer = known(shop, f"{MAPS}/kept", token)
    assert answer is not None
    assert facts(answer) == facts(answers[0])
    assert ask(shop, "DELETE", f"{accounts}/robot").code == 200
    assert known(shop, f"{MAPS}/kept", token) is None
    assert ask(shop, "GET", f"{MAPS}/kept", token=token).code == 401


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (MAPS, {}),
        (f"{MAPS}/kept?pretty=1", {}),
        (f"{MAPS}/kept", {"accept": "application/yaml"}),
        (f"{MAPS}/kept", {"accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}),
        (
            f"{MAPS}/kept",
            {"accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
        ),
        (f"{MAPS}/kept", {"user_agent": "curl/8"}),
        (f"{MAPS}/kept", {"impersonate_user": "alice", "impersonate_group": "devs"}),
        (f"{MAPS}/kept", {"audit_id": "mine"}),
        ("/api/v1/componentstatuses/etcd-0", {}),
        ("/healthz", {}),
        ("/api/v1", {}),
        (f"{MAPS}/none", {}),
    ],
)
def test_what_is_never_known(shop: Running, path: str, headers: dict[str, str]) -> None:
    codes = {ask(shop, "GET", path, **headers).code for _ in range(3)}
    assert codes <= {200, 404}
    sent = [(name.replace("_", "-"), value) for name, value in headers.items()]
    request = HttpRequest("GET", path, [*sent, ("authorization", "Bearer admin-token")])

    async def is_known() -> bool:
        return shop.server.gets.answer(request) is not None

    assert not shop.wait_for(is_known())


def test_few_gets_are_known(shop: Running) -> None:
    for n in range(1_100):
        ask(shop, "GET", f"{MAPS}/kept", token="alice-token", user_agent=str(n))
    assert 0 < len(shop.server.gets) <= 1_024


def test_known_gets_are_counted_like_others(shop: Running) -> None:
    names = (
        "apiserver_request_total",
        "apiserver_request_duration_seconds_count",
        "apiserver_response_sizes_count",
        "apiserver_authorization_decisions_total",
        "authentication_attempts",
        "apiserver_flowcontrol_dispatched_requests_total",
        "apiserver_flowcontrol_request_execution_seconds_count",
        "apiserver_flowcontrol_request_wait_duration_seconds_count",
        "apiserver_flowcontrol_work_estimated_seats_count",
    )

    def counted() -> dict[str, str]:
        lines = ask(shop, "GET", "/metrics").body.decode().splitlines()
        pairs = (line.rpartition(" ") for line in lines)
        return {name: value for name, _, value in pairs if name.partition("{")[0] in names}

    def grown(agent: str) -> dict[str, float]:
        before = counted()
        ask(shop, "GET", f"{MAPS}/kept", token="alice-token", user_agent=agent)
        after = counted()
        return {name: float(after[name]) - float(before.get(name, 0)) for name in after}

    by_layers, *_, at_once = [grown("known") for _ in range(4)]
    assert by_layers == at_once
    assert {name.partition("{")[0] for name, more in at_once.items() if more} == set(names)


# --- Components --------------------------------------------------------------


def refused(url: str) -> str:
    address = url.removeprefix("https://").removesuffix("/healthz")
    return f'Get "{url}": dial tcp {address}: connect: connection refused'


@pytest.fixture
def components(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Ports that nobody listens at: the least one, which is a root's."""
    urls = {name: f"https://127.0.0.1:{n + 1}/healthz" for n, name in enumerate(COMPONENTS)}
    for name, url in urls.items():
        if COMPONENTS[name]:
            monkeypatch.setitem(COMPONENTS, name, url)
    return urls


def test_components_are_asked_how_they_are(running: Running, components: dict[str, str]) -> None:
    path = "/api/v1/componentstatuses"
    unhealthy = [refused(components[name]) for name in ("scheduler", "controller-manager")]
    conditions = [
        *({"type": "Healthy", "status": "False", "message": message} for message in unhealthy),
        {"type": "Healthy", "status": "True", "message": "ok"},
    ]
    found = read(ask(running, "GET", f"{path}?limit=1&resourceVersion=none"))
    assert found["metadata"] == {}
    assert found["items"] == [
        {"metadata": {"name": name}, "conditions": [condition]}
        for name, condition in zip(COMPONENTS, conditions, strict=True)
    ]
    query = "fieldSelector=metadata.name%3Detcd-0"
    assert read(ask(running, "GET", f"{path}?{query}"))["items"] == found["items"][2:]
    assert read(ask(running, "GET", f"{path}?labelSelector=a"))["items"] == []
    assert read(ask(running, "GET", f"{path}/scheduler?resourceVersion=none")) == {
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        **found["items"][0],
    }
    table = read(ask(running, "GET", path, accept="application/json;as=Table;g=meta.k8s.io;v=v1"))
    assert [row["cells"] for row in table["rows"]] == [
        ["scheduler", "Unhealthy", unhealthy[0], ""],
        ["controller-manager", "Unhealthy", unhealthy[1], ""],
        ["etcd-0", "Healthy", "ok", ""],
    ]


@pytest.fixture(scope="module")
def anybodys(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """The context of a server with a certificate for somebody else."""
    return server_context(certificate("elsewhere"), tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize(
    ("answer", "state", "message"),
    [
        (http(b"ok"), "True", "ok"),
        (http(b"", 204), "True", ""),
        (http(b"a" * 20_000), "True", "a" * 10_240),
        (http(b"no", 503), "False", "HTTP probe failed with statuscode: 503"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
            "False",
            "HTTP probe failed with statuscode: 101",
        ),
        (http(b"there", 302), "Unknown", "Probe terminated redirects, Response body: there"),
        (
            b"junk\r\n\r\n",
            "False",
            'Get "URL": net/http: HTTP/1.x transport connection broken: malformed HTTP response '
            '"junk"',
        ),
    ],
)
def test_what_components_answer(
    anybodys: ssl.SSLContext, answer: bytes, state: str, message: str
) -> None:
    async def ask_for_health() -> tuple[str, tuple[str, str]]:
        async with serving(lambda _: answer, anybodys) as server:
            url = f"https://127.0.0.1:{server.port}/healthz"
            return url, await probed(url)

    url, found = asyncio.run(ask_for_health())
    assert found == (state, message.replace("URL", url))
