"""Reviews to verdicts, with worlds that have to ask others."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import pytest

from celadon.admission import ObjectWorld, Verdict
from celadon.admission.policies.validating import Engine
from celadon.admission.webhooks import NoReply, Reply, WebhookCall
from celadon.apiserver.conversion_webhooks import CalledWebhooks
from celadon.kube import Answer, Attributes, GroupVersionKind, GroupVersionResource, Ruling
from celadon.webhook.review_decisions import (
    Decider,
    ReviewConverter,
    Rulebook,
    TooManyQuestions,
    Unanswerable,
    Unanswered,
)
from tests.admission.building import binding, policy, refusal, request
from tests.apiserver.test_conversion_webhooks import conv, definition, review

ASKING = "authorizer.group('').resource('secrets').namespace('ns').check('get').allowed()"


class DistantAuthorizer(ObjectWorld):
    """Knows an answer only when somebody has fetched it."""

    def __init__(self, *, forgets: bool = False) -> None:
        super().__init__(implicit_namespaces=True)
        self.fetched: dict[str, Answer] = {}
        self.questions: list[str] = []
        self._forgets = forgets

    def authorize(self, attributes: Attributes) -> Answer:
        verb = attributes.verb
        if verb not in self.fetched:
            raise Unanswered(lambda: self._fetch(verb))
        return self.fetched[verb]

    async def _fetch(self, verb: str) -> None:
        self.questions.append(verb)
        await asyncio.sleep(0)
        if not self._forgets:
            self.fetched[verb] = (Ruling.ALLOW if verb == "get" else Ruling.DENY), "", None


def decider(world: ObjectWorld, *validations: str, **spec: Any) -> Decider:
    given = [{"expression": one} for one in validations]
    engine = Engine([policy(validations=given, **spec)], [binding()])
    return Decider(request(), Rulebook(engine, lambda: world))


def test_a_verdict_at_once() -> None:
    one = decider(ObjectWorld(implicit_namespaces=True), "object.metadata.name == 'other'")
    assert not one.verdict().allowed
    assert [(found.policy, found.failed) for found in one.findings] == [("p", False)]


def test_content_policies_leave_no_findings() -> None:
    one = decider(ObjectWorld(implicit_namespaces=True), "true")
    assert one.verdict().allowed
    assert one.findings == []


def test_ignored_errors_are_findings() -> None:
    one = decider(
        ObjectWorld(implicit_namespaces=True), "object.data.x == 'y'", failurePolicy="Ignore"
    )
    assert one.verdict().allowed
    assert [found.failed for found in one.findings] == [True]


def test_questions_are_answered_one_after_the_other() -> None:
    world = DistantAuthorizer()
    one = decider(world, ASKING, ASKING.replace("get", "list"))
    with pytest.raises(Unanswered) as first:
        one.verdict()
    verdict = asyncio.run(one.settled(first.value))
    assert world.questions == ["get", "list"]
    assert refusal(verdict) == f"failed expression: {ASKING.replace('get', 'list')}"
    assert len(one.findings) == 1, "those of verdicts that were given up do not count"


def test_a_world_that_never_knows() -> None:
    world = DistantAuthorizer(forgets=True)
    one = decider(world, ASKING)
    with pytest.raises(Unanswered) as first:
        one.verdict()
    with pytest.raises(TooManyQuestions):
        asyncio.run(one.settled(first.value))


def test_conversion_of_the_api_server_is_undone() -> None:
    """A policy sees the version that its own rule names, whatever the webhook's names."""
    rule = {
        "apiGroups": ["autoscaling"],
        "apiVersions": ["v2"],
        "operations": ["*"],
        "resources": ["horizontalpodautoscalers"],
    }
    texts = ["object.apiVersion == 'autoscaling/v2' && object.spec.metrics.size() == 1"]
    sent = request(
        {
            "apiVersion": "autoscaling/v1",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "h", "namespace": "ns"},
            "spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 80},
        },
        kind=GroupVersionKind("autoscaling", "v1", "HorizontalPodAutoscaler"),
        resource=GroupVersionResource("autoscaling", "v1", "horizontalpodautoscalers"),
        request_kind=GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler"),
        request_resource=GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers"),
    )
    for match_policy in ("Exact", "Equivalent"):
        constraints = {"resourceRules": [rule], "matchPolicy": match_policy}
        one = policy(
            matchConstraints=constraints,
            validations=[{"expression": f"!({texts[0]})", "message": "seen"}],
        )
        engine = Engine([one], [binding()])
        rules = Rulebook(engine, lambda: ObjectWorld(implicit_namespaces=True))
        verdict = Decider(sent, rules).verdict()
        assert refusal(verdict) == "seen"
        plain = dataclasses.replace(sent, request_kind=None, request_resource=None)
        unconverted = Decider(plain, rules).verdict()
        assert unconverted.allowed is (match_policy == "Exact")


def test_what_cannot_be_shown_as_the_client_sent_it_is_not_answered() -> None:
    """Only a conversion webhook of the cluster could tell; it is nobody's trouble where no policy
    looks."""
    v1, v2 = (GroupVersionKind("x.io", one, "Box") for one in ("v1", "v2"))
    versions = [{"name": one, "served": True, "storage": one == "v1"} for one in ("v1", "v2")]
    spec = {
        "group": "x.io",
        "names": {"kind": "Box", "plural": "boxes"},
        "scope": "Namespaced",
        "conversion": {"strategy": "Webhook"},
        "versions": versions,
    }
    definition = {"kind": "CustomResourceDefinition", "metadata": {"name": "b"}, "spec": spec}
    world = ObjectWorld(
        [{"apiVersion": "apiextensions.k8s.io/v1", **definition}], implicit_namespaces=True
    )
    resource = GroupVersionResource("x.io", "v1", "boxes")
    asked = dataclasses.replace(
        request({"apiVersion": "x.io/v1", "kind": "Box", "metadata": {"name": "b"}}),
        kind=v1,
        resource=resource,
        request_kind=v2,
        request_resource=resource._replace(version="v2"),
    )
    assert (
        Decider(asked, Rulebook(Engine([policy()], [binding()]), lambda: world)).verdict().allowed
    )
    rule = {
        "apiGroups": ["x.io"],
        "apiVersions": ["*"],
        "operations": ["*"],
        "resources": ["boxes"],
    }
    about = Engine([policy(matchConstraints={"resourceRules": [rule]})], [binding()])
    with pytest.raises(Unanswerable, match=r"webhook for x\.io/v1, Kind=Box is not called"):
        Decider(asked, Rulebook(about, lambda: world)).verdict()


V1, V2 = (GroupVersionKind("conv.example.com", one, "Conv") for one in ("v1", "v2"))


def converting_rules(is_down: list[bool], *policies: Any) -> Rulebook:
    """Policies whose world has a conversion webhook: v1 has `spec.a` where v2 has `spec.b`."""

    async def call(call: WebhookCall, seconds: float, *, mutating: bool | None) -> Reply | NoReply:
        assert (seconds, mutating) == (30, None)
        if is_down[0]:
            return NoReply("connection refused")
        return Reply(200, json.dumps(review(call)).encode(), "application/json")

    crd = definition()
    webhooks = CalledWebhooks([crd], "1.36", call)
    world = ObjectWorld([crd], implicit_namespaces=True)
    engine = Engine(policies, [binding()])
    return Rulebook(engine, lambda: world.with_converter(ReviewConverter(webhooks)))


def about(version: str, expression: str) -> Any:
    rule = {
        "apiGroups": [V1.group],
        "apiVersions": [version],
        "operations": ["*"],
        "resources": ["convs"],
    }
    validations = [{"expression": expression, "message": "seen"}]
    return policy(matchConstraints={"resourceRules": [rule]}, validations=validations)


@pytest.mark.parametrize("original", [None, V2])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_conversion_webhooks_that_are_called(original: Any, version: str) -> None:
    """The review has the object in v1, whatever version the client has sent."""
    field = "a" if version == "v1" else "b"
    is_down = [False]
    rules = converting_rules(is_down, about(version, f"object.spec.{field} != '1'"))
    resource = GroupVersionResource(V1.group, "v1", "convs")
    asked = dataclasses.replace(
        request(conv("o", "v1", a="1")),
        kind=V1,
        resource=resource,
        request_kind=original,
        request_resource=None if original is None else resource._replace(version="v2"),
    )

    def verdict() -> Verdict:
        decider = Decider(asked, rules)
        try:
            return decider.verdict()
        except Unanswered as question:
            return asyncio.run(decider.settled(question))

    assert refusal(verdict()) == "seen"
    is_down[0] = True
    if original is not None:
        with pytest.raises(Unanswerable, match=r"cannot be reached \(connection refused\)"):
            verdict()
    elif version == "v2":
        assert "cannot be reached (connection refused)" in refusal(verdict())
