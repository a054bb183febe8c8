"""Objects for handlers, and applications driven by hand."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

from celadon.webhook.webhook_app import Message, Webhook

Json = dict[str, Any]
NAME = "rules.example.com"


def deployment(name: str = "web", **labels: str) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {"replicas": 1},
    }


def pod(name: str = "web", **spec: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def review(obj: Json | None = None, *, version: str = "v1", **more: Any) -> Json:
    """A review about the creation of a Deployment."""
    request = {
        "uid": "u-1",
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "name": "web",
        "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {"username": "alice", "groups": ["devs"]},
        "object": deployment() if obj is None else obj,
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        **more,
    }
    kind = {"apiVersion": f"admission.k8s.io/{version}", "kind": "AdmissionReview"}
    return {**kind, "request": request}


def patch_of(response: Json) -> Any:
    """The operations of a response."""
    return json.loads(base64.b64decode(response["patch"]))


def asked(
    app: Webhook,
    path: str,
    body: object = None,
    *,
    method: str = "POST",
    content_type: str = "application/json",
    query: bytes = b"",
    root: str = "",
) -> tuple[int, Any, dict[str, str]]:
    """Code, body and headers of an answer over ASGI; a text as body is sent as it is."""
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    half = len(data) // 2
    parts: list[Message] = [
        {"type": "http.request", "body": data[:half], "more_body": True},
        {"type": "http.request", "body": data[half:]},
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        return parts.pop(0) if parts else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": root + path,
        "root_path": root,
        "query_string": query,
        "headers": [(b"content-type", content_type.encode())],
    }
    asyncio.run(app(scope, receive, send))
    start, end = sent
    headers = {key.decode(): value.decode() for key, value in start["headers"]}
    assert headers["content-length"] == str(len(end["body"]))
    return start["status"], json.loads(end["body"]), headers
