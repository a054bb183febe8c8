"""A webhook that is sent damaged reviews: `python -m tests.faults.fuzzed_webhook`.

A million by default. Each is answered, within a second, by an AdmissionReview that repeats its uid
or by a code from 400 to 499; 500 would be a mistake of ours. Reviews go through the queue and the
handler as they come from a connection; policies look into every corner of what they are shown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from celadon.admission import ObjectWorld
from celadon.admission.policies.validating import Engine
from celadon.apiserver import HttpAnswer, HttpRequest
from celadon.webhook.review_decisions import Rulebook, SourceState
from celadon.webhook.service.review_handler import ReviewHandler, ReviewQueue
from celadon.webhook.service.webhook_metrics import WebhookMetrics
from tests.admission.building import binding, policy
from tests.faults.hostile_reviews import Damage, recorded_reviews

MILLION: Final = 1_000_000
MOST_SECONDS: Final = 5.0
"""Of the processor, for one answer."""

_ANYTHING: Final = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["*/*"],
}
_EXPRESSIONS: Final = (
    "!has(object.metadata) || !has(object.metadata.labels)"
    " || object.metadata.labels.all(k, object.metadata.labels[k].size() < 64)",
    "object == null || oldObject == null || object.metadata.name == oldObject.metadata.name",
    "request.userInfo.groups.exists(g, g.startsWith('system:')) || request.userInfo.username != ''",
    "!has(object.spec) || !has(object.spec.containers)"
    " || object.spec.containers.all(c, c.image.contains('/') || c.name.matches('^[a-z-]+$'))",
    "namespaceObject == null || namespaceObject.metadata.name == request.namespace",
    "authorizer.requestResource.check('get').allowed() || request.operation != 'DELETE'",
)


class BadAnswer(Exception):
    """What must not happen, and the body that made it happen."""


def nosy_rules() -> Rulebook:
    """Policies about everything, under both failure policies."""
    policies, bindings = [], []
    for number, text in enumerate(_EXPRESSIONS):
        name = f"p{number}"
        spec: dict[str, Any] = {
            "matchConstraints": {
                "resourceRules": [_ANYTHING],
                "objectSelector": {"matchExpressions": [{"key": "k", "operator": "DoesNotExist"}]},
            },
            "failurePolicy": ("Fail", "Ignore")[number % 2],
            "validations": [{"expression": text, "messageExpression": "'no: ' + string(object)"}],
            "auditAnnotations": [{"key": "a", "valueExpression": "request.name"}],
        }
        policies.append(policy(name, **spec))
        actions = (("Deny", "Audit"), ("Warn", "Audit"))[number % 3 == 0]
        bindings.append(binding(name, name, *actions))
    world = ObjectWorld(implicit_namespaces=True)
    return Rulebook(Engine(policies, bindings), lambda: world)


class _Fixed:
    """A source of these rules."""

    def __init__(self, rules: Rulebook) -> None:
        self._rules = rules

    def rulebook(self) -> Rulebook:
        return self._rules

    def state(self) -> SourceState:
        return SourceState()

    def stamp(self) -> object:
        return None

    async def run(self) -> None:
        return


async def fuzzed(bodies: Iterable[bytes]) -> Counter[str]:
    """What came out, counted. Raises BadAnswer."""
    rules = nosy_rules()
    metrics = WebhookMetrics(_Fixed(rules), lambda: 0, None)
    handler = ReviewHandler(lambda: rules, metrics, None, most_bytes=7 << 20)
    queue = ReviewQueue(handler, 0, 60.0)
    found: Counter[str] = Counter()
    for body in bodies:
        answers: list[HttpAnswer] = []
        request = HttpRequest(
            "POST", "/validate?timeout=60s", [("content-type", "application/json")], body
        )
        began = time.process_time()
        assert queue.offer(request, answers.append)
        while not answers:
            await asyncio.sleep(0)
        found[_checked(body, answers[0], time.process_time() - began)] += 1
    return found


def _checked(body: bytes, answer: HttpAnswer, seconds: float) -> str:
    if seconds > MOST_SECONDS:
        raise BadAnswer(f"{seconds:.1f} seconds for {body[:2000]!r}")
    if 400 <= answer.code < 500:
        return str(answer.code)
    if answer.code != 200:
        raise BadAnswer(f"{answer.code} for {body[:2000]!r}")
    said, asked = json.loads(answer.body), json.loads(body)
    response = said["response"]
    good = (
        said["kind"] == "AdmissionReview"
        and said["apiVersion"] == asked["apiVersion"]
        and response["uid"] == asked["request"]["uid"]
        and isinstance(response["allowed"], bool)
        and (response["allowed"] or response["status"]["code"] >= 400)
    )
    if not good:
        raise BadAnswer(f"{answer.body[:2000]!r} for {body[:2000]!r}")
    return "allowed" if response["allowed"] else "denied"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=MILLION)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    damage = Damage(recorded_reviews(), options.seed)
    left, total = options.count, Counter[str]()
    while left > 0:
        part = min(left, 20_000)
        total += asyncio.run(fuzzed(damage.bodies(part)))
        left -= part
        sys.stdout.write(f"{options.count - left} reviews: {dict(sorted(total.items()))}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
