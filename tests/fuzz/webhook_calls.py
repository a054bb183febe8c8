"""Random webhooks, and requests of every verb to what they match.

The hooks live in the shared hook server, which both servers call: each has a URL that says how it
answers. Answers allow, deny, warn, annotate and patch; many are wrong in a part. What a hook is
sent is compared, too: those that echo write it into the audit event (`--audit-log FILE`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import quote

from tests.fuzz import policy_decisions
from tests.fuzz.policy_decisions import TESTS, common, sent_to_both
from tests.fuzz.policy_writes import GROUP
from tests.fuzz.servers import Server
from tests.fuzz.writes import Difference
from tests.recorded.hook_server import PORT, bundle, hook_server

Json = Any
_TOGETHER: Final = 16
"""Scenarios that are prepared together, since a real server takes a while to notice hooks."""
_POOLS: Final = Path(__file__).with_name("pools.json")
POOLS: Final = json.loads(_POOLS.read_text())["webhook_calls"]
"""Codes, reasons and texts of answers; pointers and values of patches; parts of a review with what
stands there."""
_V1: Final = "admission.k8s.io/v1"
_HTTP_CODES: Final = (200, 201, 300, 400, 403, 404, 409, 422, 429, 499, 500, 503, 504, 599)
_CONDITIONS: Final = [one for one in TESTS if "variables" not in one]


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many scenarios, request by request."""
    for server in (ours, real):
        common(server)
    with hook_server() as authority:
        trusted = bundle(authority)
        for first in range(seed, seed + count, _TOGETHER):
            numbers = range(first, min(first + _TOGETHER, seed + count))
            made = [Scenario(number, trusted) for number in numbers]
            for scenario in made:
                for request in scenario.setup:
                    yield sent_to_both(ours, real, request, scenario.setup)
            for server in (ours, real):
                server.settle()
            for scenario in made:
                for request in scenario.requests:
                    yield sent_to_both(ours, real, request, scenario.setup)
            for server in (ours, real):
                for scenario in made:
                    scenario.removed(server)


class Scenario(policy_decisions.Scenario):
    """Configurations of webhooks for a namespace, and requests to it."""

    def __init__(self, seed: int, trusted: str) -> None:
        self._trusted, self._may_fail = trusted, True
        super().__init__(seed)

    def _params(self) -> None:
        """Hooks have none."""

    def _policy(self, name: str, *, mutating: bool) -> None:
        random = self._random
        if random.random() < 0.12:
            super()._policy(name, mutating=mutating)
            return
        mutating = random.random() < 0.55
        kind = "Mutating" if mutating else "Validating"
        hooks = [
            self._hook(f"h{number}.{name}.dev", mutating=mutating)
            for number in range(random.choice((1, 1, 2, 3)))
        ]
        self._post(
            f"{GROUP}/v1/{kind.lower()}webhookconfigurations",
            {
                "apiVersion": GROUP[6:] + "/v1",
                "kind": f"{kind}WebhookConfiguration",
                "metadata": {"name": name},
                "webhooks": hooks,
            },
        )

    def _hook(self, name: str, *, mutating: bool) -> Json:
        random = self._random
        path = _answer(random, mutating=mutating, may_fail=mutating or self._may_fail)
        if not mutating:  # those are called at once, and the first that denies is told of
            self._may_fail = False
        hook: Json = {
            "name": name,
            "clientConfig": {"url": f"https://127.0.0.1:{PORT}/{path}", "caBundle": self._trusted},
            "rules": [self._rule(mutating=False) for _ in range(random.choice((1, 1, 2)))],
            "namespaceSelector": {"matchLabels": {"fuzz": self.name}},
            "admissionReviewVersions": random.choice(
                (["v1"], ["v1"], ["v1", "v1beta1"], ["v1beta1"], ["v2", "v1beta1", "v1"])
            ),
            "sideEffects": random.choice(("None", "None", "NoneOnDryRun")),
            "failurePolicy": random.choice(("Fail", "Fail", "Ignore")),
            "matchPolicy": random.choice(("Equivalent", "Equivalent", "Exact")),
        }
        if random.random() < 0.2:
            hook["objectSelector"] = random.choice(self._selectors())
        if random.random() < 0.25:
            chosen = random.sample(_CONDITIONS, random.choice((1, 1, 2)))
            hook["matchConditions"] = [
                {"name": f"c{number}", "expression": one} for number, one in enumerate(chosen)
            ]
        if mutating and random.random() < 0.5:
            hook["reinvocationPolicy"] = "IfNeeded"
        return hook


def _answer(random: Random, *, mutating: bool, may_fail: bool) -> str:
    """The path of a hook: how it answers."""
    if not may_fail:
        return random.choice(("allow", "echo")) + _extras(random)
    draw = random.random()
    if draw < 0.2:
        return "echo" + _extras(random) + (_patch(random) if mutating else "")
    if draw < 0.45 if mutating else draw < 0.25:
        return "allow" + _extras(random) + (_patch(random) if random.random() < 0.9 else "")
    if draw < 0.6:
        return "deny" + _status(random) + _extras(random)
    if draw < 0.95:
        return "raw" + _option("body", json.dumps(_review(random, mutating=mutating)))
    code, text = random.choice(_HTTP_CODES), random.choice(POOLS["texts"])
    return f"status/code={code}" + _option("body", text)


def _option(key: str, text: str) -> str:
    if _is_plain(text):
        return f"/{key}={quote(text, safe='')}"
    encoded = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"/{key}64={encoded}"


def _is_plain(text: str) -> bool:
    """Whether a text may stand in a path as it is."""
    return text.isalnum()


def _extras(random: Random) -> str:
    found = ""
    for key, pool in (("warn", POOLS["texts"]), ("audit", POOLS["annotations"])):
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            found += _option(key, str(random.choice(pool)))
    return found


def _status(random: Random) -> str:
    found = ""
    if random.random() < 0.7:
        found += f"/code={random.choice(POOLS['codes'])}"
    if random.random() < 0.5:
        found += _option("reason", str(random.choice(POOLS["reasons"])))
    if random.random() < 0.7:
        found += _option("message", str(random.choice(POOLS["texts"])))
    if random.random() < 0.3:
        found += _option("status", json.dumps(random.choice(POOLS["statuses"])))
    return found


def _patch(random: Random) -> str:
    return _option("patch", json.dumps(_operations(random)))


def _operations(random: Random) -> Json:
    if random.random() < 0.06:
        return random.choice(POOLS["odd_patches"])
    found = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        op = random.choice(("add", "add", "add", "replace", "remove", "test", "copy", "move"))
        one: Json = {"op": op, "path": random.choice(POOLS["pointers"])}
        if op in ("add", "replace", "test"):
            one["value"] = random.choice(POOLS["values"])
        if op in ("copy", "move"):
            one["from"] = random.choice(POOLS["pointers"])
        if random.random() < 0.04:
            one[random.choice(("op", "path", "value", "from", "x"))] = random.choice(
                POOLS["values"]
            )
        found.append(one)
    return found


def _review(random: Random, *, mutating: bool) -> Json:
    """An answer with one or two parts that are odd."""
    response: Json = {"uid": "${uid}", "allowed": random.random() < 0.7}
    if mutating and random.random() < 0.6:
        text = json.dumps(_operations(random)).encode()
        response["patch"] = base64.b64encode(text).decode()
        response["patchType"] = "JSONPatch"
    review: Json = {"kind": "AdmissionReview", "apiVersion": _V1, "response": response}
    for _ in range(random.choice((1, 1, 1, 2))):
        place, values = random.choice(sorted(POOLS["parts"].items()))
        *way, last = place.split(".")
        holder: Json = review
        for step in way:
            inner = holder.setdefault(step, {})
            if not isinstance(inner, dict):
                inner = holder[step] = {}
            holder = inner
        holder[last] = random.choice(values)
    if random.random() < 0.1:
        response.pop(random.choice(sorted(response)))
    return review
