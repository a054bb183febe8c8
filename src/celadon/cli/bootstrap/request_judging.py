"""Judges requests of the tables one by one, as `celadon check` judges objects.

What changes from one request to the next is the world (params and definitions that have come to be)
and which webhooks answer; both are given. Policies are compiled once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any, Final

from celadon.admission import ObjectWorld, Operation
from celadon.admission.webhooks import Call, NoReply, Reply, call_url
from celadon.cli.bootstrap.step_tables import Sending
from celadon.cli.check.check_report import ObjectResult
from celadon.cli.check.cluster import Circumstances, Cluster, engines_of, given_world
from celadon.cli.check.manifests import Manifests
from celadon.cli.check.notices import Findings, Sightings
from celadon.cli.check.object_chain import AskedWebhooks
from celadon.cli.check.object_judging import Judge, Judged, Settings
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.check.policy_set import PolicySet, PolicySets
from celadon.cli.check.questions import Question, identity
from celadon.cli.check.webhook_documents import WebhookDocuments, webhook_documents
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import JsonObject, User
from celadon.kube.registry import request_options
from celadon.records import dataclass

NOW: Final = "2026-01-01T00:01:00Z"
"""When all of it happens."""
_NO_SETS: Final = PolicySets(PolicySet(), PolicySet())


@dataclass(frozen=True, slots=True)
class Answer:
    """Says what becomes of a request: the result of checking it, and its object as it is written;
    or why nobody could ask. `resource` is `pods/binding`."""

    result: ObjectResult | None
    written: JsonObject | None
    resource: str = ""
    problems: tuple[Problem, ...] = ()


class RequestBench:
    """`manifests` are what was given; those of them in `awaited` are not there yet."""

    def __init__(
        self,
        manifests: Manifests,
        sets: PolicySets,
        version: str,
        awaited: Sequence[Document] = (),
    ) -> None:
        self._version = version
        self._manifests = manifests
        self._engines = engines_of(sets, version)
        self._nobody = engines_of(_NO_SETS, version)
        self.webhooks: WebhookDocuments = webhook_documents(manifests.existing, version)
        self._prepared: dict[str, Prepare] = {}
        late = {id(one) for one in awaited}
        there = replace(
            manifests,
            looked_up=[one for one in manifests.looked_up if id(one) not in late],
            also_looked_up=[],
        )
        self.world, self.problems = given_world(there, sets, self._prepare(User("")))

    @property
    def sets(self) -> PolicySets:
        """The policies and bindings that judge."""
        return self._engines.sets

    def judged(
        self,
        sending: Sending,
        document: Document,
        old: Document | None,
        world: ObjectWorld,
        answering: Set[str],
    ) -> Answer:
        """Return what becomes of a request about a document, in a world in which the webhooks of
        these names answer."""
        question = Question(
            sending.operation,
            subresource=sending.subresource,
            user=sending.actor.user,
            field_validation=request_options.IGNORE,
        )
        cluster = Cluster(
            self._engines if sending.judged else self._nobody,
            self._prepare(sending.actor.user),
            world,
            self._manifests,
            webhooks=AskedWebhooks.of(self.webhooks, self._version, _Awaited(answering)),
        )
        seen: list[Judged] = []
        findings = Findings(Sightings(wants_namespaces=False))
        olds = {} if old is None else {identity(document, question.namespace): old}
        settings = Settings(question, self._version, NOW)
        Judge.of(cluster, settings, olds, findings, seen.append).take(document)
        problems = (*findings.unsendable, *findings.early_crashes, *findings.crashes)
        if not seen:
            return Answer(None, None, problems=problems)
        request = seen[0].asked.request
        written = request.old_object if request.operation is Operation.DELETE else request.object
        below = f"/{request.subresource}" if request.subresource else ""
        return Answer(seen[0].result, written, f"{request.resource.resource}{below}", problems)

    def _prepare(self, user: User) -> Prepare:
        found = self._prepared.get(user.name)
        if found is None:
            circumstances = Circumstances(
                self._version, NOW, user, field_validation=request_options.IGNORE
            )
            found = circumstances.preparation(self._manifests.existing)
            self._prepared[user.name] = found
        return found


@dataclass(frozen=True, slots=True)
class _Awaited:
    """Webhooks of which some answer, and admit everything."""

    answering: Set[str]

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Of those that do not answer, what the server says of a Service without pods."""
        return [self._reply(call) for call in calls]

    def _reply(self, call: Call) -> Reply | NoReply:
        service = call.client_config.service
        webhook = hook_id(call.hook.configuration, call.hook.name)
        if service is not None and webhook not in self.answering:
            url = call_url(call.client_config, call.timeout_seconds)
            return NoReply(f'Post "{url}": no endpoints available for service "{service.name}"')
        review: dict[str, Any] = {
            "apiVersion": call.api_version,
            "kind": "AdmissionReview",
            "response": {"uid": call.uid, "allowed": True},
        }
        return Reply(200, json.dumps(review).encode())


def hook_id(configuration: str, webhook: str) -> str:
    """Names a webhook of a configuration."""
    return f"{configuration}/{webhook}"
