"""Reviews and token requests: creates that are answered at once, and stored nowhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from celadon.admission import Operation
from celadon.kube import AuthorizerBackend, GroupResource, JsonObject, User
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import create, require_version
from celadon.kube.well_known_values import AUTHENTICATION_GROUP, AUTHORIZATION_GROUP
from celadon.records import dataclass
from celadon.serve.access.access_reviews import (
    local_subject_access_review,
    self_subject_access_review,
    self_subject_rules_review,
    subject_access_review,
)
from celadon.serve.access.authentication import Authenticator
from celadon.serve.access.identity_reviews import self_subject_review, token_review
from celadon.serve.access.token_requests import TokenIssuer
from celadon.serve.rest.admitting.admission_chain import Admission
from celadon.serve.rest.bodies import read_sent
from celadon.serve.rest.calls import Call
from celadon.serve.rest.field_managers import FieldManagers
from celadon.serve.rest.object_writes import Written, in_order
from celadon.serve.views.role_view import RoleView

TOKEN: Final = "token"


@dataclass(frozen=True, slots=True)
class Reviewer:
    """What answers the reviews of one server."""

    authenticator: Authenticator
    authorizer: AuthorizerBackend
    roles: RoleView
    issuer: TokenIssuer
    now: Callable[[], datetime]
    new_uid: Callable[[], str]
    new_context: Callable[[User], DefaultingContext]
    admission: Admission
    managers: FieldManagers

    def answers(self, call: Call) -> bool:
        """Whether the endpoint is one of these."""
        target = call.target
        if target.subresource:
            return target.subresource == TOKEN and target.kind.group == AUTHENTICATION_GROUP
        return target.resource.gvr.group in (AUTHORIZATION_GROUP, AUTHENTICATION_GROUP)

    async def review(self, call: Call) -> Written:
        """Raises StatusError, Denied."""
        assert call.options is not None  # refused before the body is read
        read = await call.work.step(read_sent, call, self.new_context(call.user))
        call.notes.warnings += read.warnings
        require_version(read, call.target)
        await call.work.step(self.managers.created, call, read)
        draft = read.draft
        if call.target.subresource:
            create.prepare_create(draft, call.target)
        draft = await self.admission.mutate(call, Operation.CREATE, draft)
        review = await call.work.step(draft.form)
        await self.admission.admit(call, Operation.CREATE, review, None)
        if call.target.kind.group == AUTHORIZATION_GROUP:  # the others belong to the loop
            answer = await call.work.step(self._reviewed, call, review)
        else:
            answer = self._reviewed(call, review)
        return Written(201, await call.work.step(in_order, dict(answer)))

    def _reviewed(self, call: Call, review: JsonObject) -> JsonObject:
        if call.target.subresource:
            return self._token(call, review)
        match call.target.group_resource:
            case GroupResource(resource="selfsubjectaccessreviews"):
                return self_subject_access_review(review, call.user, self.authorizer)
            case GroupResource(resource="subjectaccessreviews"):
                return subject_access_review(review, self.authorizer)
            case GroupResource(resource="localsubjectaccessreviews"):
                return local_subject_access_review(review, call.target.namespace, self.authorizer)
            case GroupResource(resource="selfsubjectrulesreviews"):
                return self_subject_rules_review(review, call.user, self.roles.current())
            case GroupResource(resource="selfsubjectreviews"):
                return self_subject_review(call.user, self.now())
        answer, warnings = token_review(review, self.authenticator, self.now())
        call.notes.warnings += warnings
        return answer

    def _token(self, call: Call, review: JsonObject) -> JsonObject:
        target = call.target
        answer, annotations = self.issuer.request(
            review, target.namespace, target.name, self.now(), self.new_uid()
        )
        call.notes.annotate(dict(annotations))
        return answer
