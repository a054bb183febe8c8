"""A request up to where a handler would begin, and the reviews behind it.

The product's own steps in the order of a server: authentication, impersonation, authorization, the
checks of role writes. Objects are whatever a scenario set up; nothing is stored but those.
"""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celadon.apiserver.authn.authentication import Authenticator, Credentials, read_token_file
from celadon.apiserver.authn.service_account_tokens import ServiceAccountTokens, SignerOnDemand
from celadon.apiserver.authn.signing_keys import new_elliptic_key
from celadon.apiserver.authz.authorizer_chain import (
    AuthorizerChain,
    check_access,
    request_attributes,
)
from celadon.apiserver.authz.escalation_checks import EscalationChecks
from celadon.apiserver.authz.impersonation import Impersonation, wanted_user
from celadon.apiserver.handlers.reviews import (
    TokenIssuer,
    local_subject_access_review,
    self_subject_access_review,
    self_subject_review,
    self_subject_rules_review,
    subject_access_review,
    token_review,
)
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import RequestInfo, request_info
from celadon.kube import GroupVersionResource, StatusError, User, metadata, status
from celadon.kube.rbac import RbacAuthorizer, RoleIndex, bootstrap_roles
from celadon.kube.registry.decoded_object import drafted

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
ISSUER = "https://kubernetes.default.svc"
TOKENS = """\
admin-token,admin,admin-uid,system:masters
alice-token,alice,alice-uid,devs
bob-token,bob,bob-uid,"ops,qa"
"""
SIGNER = SignerOnDemand(new_elliptic_key)
REVIEWS = {"authorization.k8s.io", "authentication.k8s.io"}


class Objects:
    """Stored objects by kind, namespace and name."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], dict[str, Any]] = {}

    def put(self, resource: str, obj: dict[str, Any]) -> None:
        key = (resource, metadata.namespace(obj), metadata.name(obj))
        self._found[key] = obj

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> Any:
        return self._found.get((resource.resource, namespace, name))


@dataclass
class Answer:
    """`body` is None where a handler would go on."""

    code: int
    body: dict[str, Any] | None
    warnings: Sequence[str] = ()
    annotations: Sequence[tuple[str, str]] = ()


class FrontDesk:
    def __init__(self) -> None:
        self.objects = Objects()
        self.roles = RbacAuthorizer(RoleIndex(bootstrap_roles()))
        self.chain = AuthorizerChain((self.roles,))
        accounts = ServiceAccountTokens((ISSUER,), (ISSUER,), SIGNER, self.objects)
        tokens = read_token_file(TOKENS, "tokens.csv")
        self.authenticator = Authenticator((ISSUER,), tokens, accounts)
        self.impersonation = Impersonation(self.chain)
        self.issuer = TokenIssuer(ISSUER, (ISSUER,), SIGNER, self.objects, lambda gate: True)
        self.checks = EscalationChecks(self.chain, self.roles)

    def set_up(self, obj: dict[str, Any]) -> None:
        stored = {**obj, "metadata": {**obj.get("metadata", {}), "uid": str(uuid.UUID(int=7))}}
        self.roles.index.put(stored)
        self.objects.put(f"{obj['kind'].lower()}s", stored)

    def answer(self, request: HttpRequest) -> Answer:
        """What access has to say about a request."""
        who = self.authenticator.authenticate(Credentials(request.header("authorization")), NOW)
        try:
            if who.user is None:
                raise status.unauthorized()
            found = self._authorized(request, who.user)
        except StatusError as error:
            found = Answer(error.code, error.status.to_json())
        found.warnings = [*who.warnings, *found.warnings]
        return found

    def _authorized(self, request: HttpRequest, user: User) -> Answer:
        info = request_info(request)
        wanted = wanted_user(request)
        if wanted is not None:
            asked = request_attributes(user, info, request)
            user = self.impersonation.impersonate(wanted, asked).user
        attributes = request_attributes(user, info, request)
        check_access(attributes, self.chain)
        if request.method != "POST":
            return Answer(200, None)
        if info.group in REVIEWS or info.subresource == "token":
            return self._review(request, info, user)
        if info.group == "rbac.authorization.k8s.io":
            self.checks.check(attributes, json.loads(request.body), None)
        return Answer(201, None)

    def _review(self, request: HttpRequest, info: RequestInfo, user: User) -> Answer:
        review = decoded(json.loads(request.body or b"{}"), info)
        match info.resource:
            case "selfsubjectaccessreviews":
                return Answer(201, self_subject_access_review(review, user, self.chain))
            case "subjectaccessreviews":
                return Answer(201, subject_access_review(review, self.chain))
            case "localsubjectaccessreviews":
                return Answer(201, local_subject_access_review(review, info.namespace, self.chain))
            case "selfsubjectrulesreviews":
                return Answer(201, self_subject_rules_review(review, user, self.roles))
            case "selfsubjectreviews":
                return Answer(201, self_subject_review(user, NOW))
            case "tokenreviews":
                body, warnings = token_review(review, self.authenticator, NOW)
                return Answer(201, body, warnings)
        asked = self.issuer.prepared(review, info.namespace, info.name, NOW)
        body, annotations = self.issuer.issued(asked, NOW, str(uuid.UUID(int=8)))
        return Answer(201, body, annotations=annotations)


KINDS = {
    "selfsubjectaccessreviews": "SelfSubjectAccessReview",
    "subjectaccessreviews": "SubjectAccessReview",
    "localsubjectaccessreviews": "LocalSubjectAccessReview",
    "selfsubjectrulesreviews": "SelfSubjectRulesReview",
    "selfsubjectreviews": "SelfSubjectReview",
    "tokenreviews": "TokenReview",
}


def decoded(body: Mapping[str, Any], info: RequestInfo) -> dict[str, Any]:
    """As the write path hands it over: of the path's kind, defaulted."""
    group = info.group or "authentication.k8s.io"
    kind = KINDS.get(info.resource, "TokenRequest")
    typed = {**body, "apiVersion": f"{group}/v1", "kind": kind}
    return drafted(typed, metadata.gvk(typed)).form()
