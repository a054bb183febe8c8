"""Whose request it is: the ways to prove it, one after the other.

A client certificate, then a bearer token (from the token file or of a service account); who offers
nothing is anonymous. The first success counts. Who offers something that proves nothing is refused,
not anonymous. As k8s.io/apiserver `pkg/authentication/request/{union,x509,bearertoken,anonymous}`
and k8s.io/kubernetes `pkg/kubeapiserver/authenticator`.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from celadon.kube import User
from celadon.kube.roles import aggregated
from celadon.kube.well_known_values import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED
from celadon.records import dataclass
from celadon.serve.access.credentials.service_account_tokens import (
    ServiceAccountTokens,
    TokenBearer,
    TokenRefused,
)
from celadon.serve.access.credentials.token_file import TokenFile
from celadon.serve.access.identities import with_group
from celadon.serve.http_messages import HttpRequest

INVALID_TOKEN: Final = "invalid bearer token"
SPACE_BEFORE_TOKEN: Final = (
    "the provided Authorization header contains extra space before the bearer token, and is ignored"
)
_REMEMBERED: Final = 1024
_SPACE: Final = " \t\r\n\v\f"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request offers: its Authorization header, its verified certificate in DER form."""

    authorization: str = ""
    certificate: bytes | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> Credentials:
        """Those of one request."""
        return cls(request.header("authorization"), request.client_certificate)


@dataclass(frozen=True, slots=True)
class Authentication:
    """`user` is None for a request that is answered with 401; `error` then says why, for the log.
    `annotations` are for the audit event, `warnings` for the answer."""

    user: User | None
    audiences: tuple[str, ...] = ()
    error: str = ""
    warnings: tuple[str, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """What came of a token, as long as it is that user's."""

    user: User
    found: Authentication


@dataclass(frozen=True, slots=True)
class Authenticator:
    """The ways that are configured; `api_audiences` are those of the server itself."""

    api_audiences: tuple[str, ...]
    tokens: TokenFile = field(default_factory=TokenFile)
    accounts: ServiceAccountTokens | None = None
    client_certificates: bool = False
    anonymous: bool = True
    _known: dict[str, _Known] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Tokens of the file that have been shown for the server itself, and nothing else of what
    clients send."""

    def authenticate(
        self,
        credentials: Credentials,
        now: datetime.datetime,
        audiences: Sequence[str] | None = None,
    ) -> Authentication:
        """`audiences` are those that the token must be good for, if not the server's own."""
        token, warnings = bearer_token(credentials.authorization)
        if audiences is None and credentials.certificate is None:
            known = self._known.get(token)
            if known is not None and self.tokens.users.get(token) is known.user:
                return known.found
        wanted = self.api_audiences if audiences is None else tuple(audiences)
        errors: list[str] = []
        if self.client_certificates and credentials.certificate is not None:
            user, why = _shown_by(credentials.certificate, now)
            if user is not None:
                return Authentication(_completed(user), wanted)
            errors += why
        if token:
            try:
                found = self._bearer(token, wanted, now)
            except TokenRefused as error:
                errors.append(str(error))
            else:
                if audiences is None:
                    self._remember(token, found)
                return found
        if errors:
            return Authentication(None, error=aggregated(errors), warnings=warnings)
        if not self.anonymous:
            return Authentication(None, warnings=warnings)
        return Authentication(User(ANONYMOUS, (UNAUTHENTICATED,)), wanted, warnings=warnings)

    def _remember(self, token: str, found: Authentication) -> None:
        user = self.tokens.users.get(token)
        if user is not None and len(self._known) < _REMEMBERED:
            self._known[token] = _Known(user, found)

    def _bearer(
        self, token: str, audiences: tuple[str, ...], now: datetime.datetime
    ) -> Authentication:
        """Raises TokenRefused."""
        found = self._of_file(token, audiences)
        if found is None and self.accounts is not None:
            found = self.accounts.authenticate(token, audiences, now)
        if found is None:
            raise TokenRefused(INVALID_TOKEN)
        user = _completed(found.user)
        return Authentication(user, found.audiences, annotations=found.annotations)

    def _of_file(self, token: str, audiences: tuple[str, ...]) -> TokenBearer | None:
        """A token of the file is good for the server's own audiences only."""
        user = self.tokens.users.get(token)
        good = tuple(one for one in self.api_audiences if one in audiences)
        return None if user is None or not good else TokenBearer(user, good)


def _shown_by(certificate: bytes, now: datetime.datetime) -> tuple[User | None, list[str]]:
    """The user of a certificate, or why it shows none."""
    from celadon.serve.access.credentials.client_certificates import (  # late: it loads X.509
        CertificateRefused,
        certificate_user,
    )

    try:
        return certificate_user(certificate, now), []
    except CertificateRefused as error:
        return None, [str(error)]


def _completed(user: User) -> User:
    """With the group of all who have proven who they are."""
    if UNAUTHENTICATED in user.groups:
        return user
    return with_group(user, AUTHENTICATED)


def bearer_token(header: str) -> tuple[str, tuple[str, ...]]:
    """The token of an Authorization header, empty if it has none, and warnings."""
    parts = header.strip(_SPACE).split(" ", 2)
    if len(parts) < 2 or parts[0].lower() != "bearer":
        return "", ()
    if not parts[1]:
        return "", (SPACE_BEFORE_TOKEN,) if len(parts) == 3 else ()
    return parts[1], ()
