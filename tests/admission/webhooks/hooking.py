"""Webhooks, and requests for them, with as little said as will do."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.registration import decode_webhooks
from celadon.admission.registration.registration_types import WebhookConfiguration
from celadon.admission.webhooks import Call, HookSet, NoReply, Reply

WORLD = ObjectWorld(implicit_namespaces=True)
EVERYTHING = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["*/*"],
    "scope": "*",
}


def webhook(name: str = "a.hooks.example.com", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [EVERYTHING],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


def configuration(
    *webhooks: Mapping[str, Any], name: str = "c", mutating: bool = False
) -> WebhookConfiguration:
    document = {"metadata": {"name": name}, "webhooks": [dict(one) for one in webhooks]}
    return decode_webhooks(document, mutating=mutating).value


def hooks(*webhooks: Mapping[str, Any], mutating: bool = False) -> HookSet:
    return HookSet([configuration(*webhooks, mutating=mutating)])


def new_uid() -> str:
    return "u"


def as_json(body: bytes) -> bytes:
    return body


def answer(call: Call, *, allowed: bool = True, **more: Any) -> Reply:
    review = {
        "apiVersion": call.api_version,
        "kind": "AdmissionReview",
        "response": {"uid": call.uid, "allowed": allowed, **more},
    }
    return Reply(200, json.dumps(review).encode(), "application/json")


def patch(call: Call, operations: Any) -> Reply:
    text = base64.b64encode(json.dumps(operations).encode()).decode()
    return answer(call, patch=text, patchType="JSONPatch")


REFUSED = NoReply('Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: refused')
