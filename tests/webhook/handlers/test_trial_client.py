"""Handlers asked as an API server asks them, without one."""

from __future__ import annotations

import asyncio

import pytest

from celadon.kube import User
from celadon.webhook.handlers import Denied, Request
from celadon.webhook.webhook_app import TestClient, Webhook
from tests.webhook.handlers.objects import NAME, Json, deployment, pod

POD_EXEC: Json = {"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"]}


def recorder(app: Webhook) -> list[Request]:
    """What is asked about everything."""
    seen: list[Request] = []

    @app.validate("*/*", groups=["*"], operations=["*"], name="seen")
    def see(request: Request) -> None:
        seen.append(request)

    return seen


def test_mutating_handlers_come_first_and_see_one_another() -> None:
    app = Webhook(NAME)

    @app.validate("pods")
    def is_spread(request: Request) -> bool:
        """not spread"""
        return bool(request.object["spec"].get("spread") == 2)

    @app.mutate("pods")
    def one(request: Request) -> None:
        request.object["spec"]["spread"] = 1

    @app.mutate("pods")
    def two(request: Request) -> None:
        request.object["spec"]["spread"] += 1
        request.warn("changed")
        request.annotate("by", "two")

    answer = TestClient(app).create(pod(), namespace="shop")
    assert answer.allowed
    assert answer.called == ("one", "two", "is-spread")
    assert answer.object is not None
    assert answer.object["spec"] == {"spread": 2}
    assert answer.object["metadata"]["namespace"] == "shop"
    assert answer.patches == {
        "one": [{"op": "add", "path": "/spec/spread", "value": 1}],
        "two": [{"op": "replace", "path": "/spec/spread", "value": 2}],
    }
    assert (answer.code, answer.message, answer.warnings) == (200, "", ("changed",))
    assert answer.audit_annotations == {"two.rules.example.com/by": "two"}


@pytest.mark.parametrize(
    ("obj", "about", "namespace"),
    [
        (pod(), {}, "default"),
        (pod(), {"namespace": "shop"}, "shop"),
        (deployment(), {"namespace": "shop"}, "shop"),
        ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}, {}, ""),
        (
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
            {"namespace": "shop"},
            "",
        ),
        ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}, {}, "n"),
    ],
)
def test_the_namespace_of_a_request(obj: Json, about: Json, namespace: str) -> None:
    app = Webhook(NAME)
    seen = recorder(app)
    assert TestClient(app).create(obj, **about).allowed
    assert [(one.namespace, one.sub_resource) for one in seen] == [(namespace, "")]


def test_reinvocation() -> None:
    app = Webhook(NAME)

    @app.mutate("pods", reinvocation_policy="IfNeeded")
    def first(request: Request) -> None:
        request.object["spec"].setdefault("a", 1)

    @app.mutate("pods")
    def second(request: Request) -> None:
        request.object["spec"].setdefault("b", 1)

    assert TestClient(app).create(pod()).called == ("first", "second", "first")


def test_denials_read_as_a_user_reads_them() -> None:
    app = Webhook(NAME)

    @app.mutate("pods", name="first")
    def first(request: Request) -> Denied:
        return Denied("too many", code=429)

    seen = recorder(app)
    answer = TestClient(app).create(pod())
    assert (answer.allowed, answer.code, answer.reason) == (False, 429, "TooManyRequests")
    assert answer.message == (
        'admission webhook "first.rules.example.com" denied the request: too many'
    )
    assert answer.object is None
    assert not seen


def test_rules_selectors_and_conditions_count() -> None:
    app = Webhook(NAME)
    nope = {"matchLabels": {"team": "x"}}
    production = {"matchLabels": {"stage": "production"}}
    no_admins = {"no-admins": "!('system:masters' in request.userInfo.groups)"}
    app.validate("deployments.apps", name="kind")(lambda _: None)
    app.validate("pods", name="operation", operations=["DELETE"])(lambda _: None)
    app.validate("pods", name="label", object_selector=nope)(lambda _: None)
    app.validate("pods", name="stage", namespace_selector=production)(lambda _: None)
    app.validate("pods", name="user", match_conditions=no_admins)(lambda _: None)
    labels = {"stage": "production"}
    shop = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}}
    client = TestClient(app, [shop])
    assert client.create(pod()).called == ()
    assert client.create(pod(), namespace="shop").called == ("stage",)
    assert client.create(pod(), user="alice", groups=["devs"]).called == ("user",)
    assert client.delete(pod()).called == ("operation",)


def test_what_handlers_are_asked() -> None:
    app = Webhook(NAME)
    seen = recorder(app)
    client = TestClient(app, user=User("bob"))
    old = deployment()
    client.create(deployment(), dry_run=True)
    client.update(deployment(team="a"), old, user="alice", groups=["devs"])
    client.delete(old, user=User("carol", ("g",)))
    client.connect(POD_EXEC, pod(), sub_resource="exec")
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}}
    client.update({**deployment(), **scale}, deployment(), sub_resource="status")
    create, update, delete, connect, namespace, below = seen
    assert (create.dry_run, create.options["dryRun"], create.user.name) == (True, ["All"], "bob")
    assert (create.name, create.namespace) == ("web", "default")
    assert update.user.groups == ("devs", "system:authenticated")
    assert update.old_object is not None
    assert update.options["kind"] == "UpdateOptions"
    assert (delete.given, delete.user.groups) == (None, ("g",))
    assert (connect.kind.kind, connect.sub_resource) == ("PodExecOptions", "exec")
    assert connect.object == POD_EXEC
    assert (namespace.name, namespace.namespace) == ("n", "n")
    assert below.sub_resource == "status"


def test_a_dry_run_needs_a_handler_without_side_effects() -> None:
    app = Webhook(NAME)
    app.validate("pods", name="a", side_effects="NoneOnDryRun")(lambda _: None)
    assert TestClient(app).create(pod(), dry_run=True).allowed


def test_kinds_nobody_knows() -> None:
    app = Webhook(NAME)
    seen = recorder(app)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    assert TestClient(app).create(widget).allowed
    assert seen[0].resource.resource == "widgets"


def test_what_handlers_raise_comes_through() -> None:
    app = Webhook(NAME)

    @app.validate("pods")
    def broken(request: Request) -> None:
        raise RuntimeError("oops")

    with pytest.raises(RuntimeError, match="oops"):
        TestClient(app).create(pod())


def test_within_a_running_loop() -> None:
    app = Webhook(NAME)
    seen = recorder(app)

    async def run() -> bool:
        return TestClient(app).create(pod()).allowed

    assert asyncio.run(run())
    assert len(seen) == 1


def test_no_handlers() -> None:
    assert TestClient(Webhook(NAME)).create(pod()).called == ()
