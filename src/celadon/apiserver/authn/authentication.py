"""Authenticates requests, in one way after the other.

The word of a front proxy, a client certificate, then a bearer token (from the token file or of a
service account); who offers nothing is anonymous. The first success counts. Who offers something
that proves nothing is refused, not anonymous. As k8s.io/apiserver `pkg/authentication/request`
(`union`, `headerrequest`, `x509`, `bearertoken`, `anonymous`) and k8s.io/kubernetes
`pkg/kubeapiserver/authenticator`.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from celadon.apiserver.authn.identities import FrontProxies, with_group
from celadon.apiserver.authn.service_account_tokens import (
    ServiceAccountTokens,
    TokenBearer,
    TokenRefused,
)
from celadon.apiserver.http_messages import Header, HttpRequest, SignedFor
from celadon.kube import User
from celadon.kube.rbac import aggregated
from celadon.kube.well_known_values import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED
from celadon.memoization import LONGEST
from celadon.records import dataclass, field

# --- Token file --------------------------------------------------------------
#
# Static bearer tokens: lines of `token,user,uid[,"group1,group2"]`.
#
# The file is CSV as Go reads it: empty lines are passed over, a quote inside a field without
# quotes is an error. As k8s.io/apiserver `pkg/authentication/token/tokenfile` and Go's
# `encoding/csv`.

COLUMNS: Final = 3


class TokenFileError(ValueError):
    """Says why a server does not start with this file."""


@dataclass(frozen=True, slots=True)
class TokenFile:
    """Users by token. `warnings` are about lines that do not count."""

    users: Mapping[str, User] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()


def read_token_file(text: str, path: str) -> TokenFile:
    """`path` is for messages only. Raises TokenFileError."""
    users: dict[str, User] = {}
    warnings = []
    for number, record in enumerate(_records(text), 1):
        if len(record) < COLUMNS:
            raise TokenFileError(
                f"token file '{path}' must have at least 3 columns (token, user name, user uid), "
                f"found {len(record)}"
            )
        token, name, uid, *more = record
        if not token:
            warnings.append(_found("empty", path, number))
            continue
        if token in users:
            warnings.append(_found("duplicate", path, number))
        users[token] = User(name, tuple(more[0].split(",")) if more else (), uid)
    return TokenFile(users, tuple(warnings))


def _found(subject: str, path: str, number: int) -> str:
    return f"{subject} token has been found in token file '{path}', record number '{number}'"


def _records(text: str) -> Iterator[Sequence[str]]:
    lines = text.replace("\r\n", "\n").split("\n")
    index = 0
    while index < len(lines):
        if not lines[index]:
            index += 1
            continue
        record, index = _record(lines, index)
        yield record


def _record(lines: Sequence[str], start: int) -> tuple[list[str], int]:
    """Return a record, which may go over several lines, and the index of the line after it."""
    fields: list[str] = []
    index, column = start, 0
    while True:
        line = lines[index]
        if line.startswith('"', column):
            value, index, column = _quoted(lines, start, index, column)
            line = lines[index]
        else:
            end = line.find(",", column)
            end = len(line) if end < 0 else end
            value = line[column:end]
            if '"' in value:
                where = column + value.index('"')
                raise _error(start, index, where, 'bare " in non-quoted field')
            column = end
        fields.append(value)
        if column >= len(line):
            return fields, index + 1
        column += 1


def _quoted(lines: Sequence[str], start: int, index: int, column: int) -> tuple[str, int, int]:
    """Return the value, and the line and column where it ends: at a comma or at the end of a
    line."""
    value, column = "", column + 1
    while True:
        line = lines[index]
        end = line.find('"', column)
        if end < 0:
            value += line[column:] + "\n"
            index, column = index + 1, 0
            if index == len(lines):
                raise _error(start, index - 1, len(line), 'extraneous or missing " in quoted-field')
            continue
        value += line[column:end]
        column = end + 1
        if line.startswith('"', column):
            value, column = value + '"', column + 1
        elif column == len(line) or line[column] == ",":
            return value, index, column
        else:
            raise _error(start, index, end, 'extraneous or missing " in quoted-field')


def _error(start: int, line: int, column: int, subject: str) -> TokenFileError:
    record = f"record on line {start + 1}; " if line != start else ""
    return TokenFileError(f"{record}parse error on line {line + 1}, column {column + 1}: {subject}")


UNKNOWN_AUTHORITY: Final = "x509: certificate signed by unknown authority"
INVALID_TOKEN: Final = "invalid bearer token"
SPACE_BEFORE_TOKEN: Final = (
    "the provided Authorization header contains extra space before the bearer token, and is ignored"
)
_REMEMBERED: Final = 1024
_SPACE: Final = " \t\r\n\v\f"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Holds what a request offers: its Authorization header, its verified certificate in DER form.
    `vouched` are all headers, if the certificate is that of a front proxy."""

    authorization: str = ""
    certificate: bytes | None = None
    signed_for: SignedFor = SignedFor.CLIENTS
    vouched: tuple[Header, ...] = ()

    @classmethod
    def of(cls, request: HttpRequest) -> Credentials:
        """Take the credentials of one request."""
        certificate, signed_for = request.client_certificate, request.signed_for
        is_proxy = certificate is not None and SignedFor.FRONT_PROXIES in signed_for
        headers = tuple(request.headers) if is_proxy else ()
        return cls(request.header("authorization"), certificate, signed_for, headers)


@dataclass(frozen=True, slots=True)
class Authentication:
    """Holds who makes a request. `user` is None for a request that is answered with 401; `error`
    then says why, for the log. `annotations` are for the audit event, `warnings` for the answer."""

    user: User | None
    audiences: tuple[str, ...] = ()
    error: str = ""
    warnings: tuple[str, ...] = ()
    annotations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _CachedToken:
    """Holds what came of a header with a token, as long as that is the user's."""

    token: str
    user: User
    authentication: Authentication


@dataclass(frozen=True, slots=True)
class Authenticator:
    """The ways that are configured; `api_audiences` are those of the server itself."""

    api_audiences: tuple[str, ...]
    tokens: TokenFile = field(default_factory=TokenFile)
    accounts: ServiceAccountTokens | None = None
    client_certificates: bool = False
    anonymous: bool = True
    certificate_uids: bool = True
    """Whether a certificate may name the UID of its user: AllowParsingUserUIDFromCertAuth."""
    proxies: FrontProxies | None = None
    _cached_tokens: dict[str, _CachedToken] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By header: tokens of the file that have been shown for the server itself, and nothing else of
    what clients send."""

    def authenticate(
        self,
        credentials: Credentials,
        now: datetime.datetime,
        audiences: Sequence[str] | None = None,
    ) -> Authentication:
        """`audiences` are those that the token must be good for, if not the server's own."""
        if audiences is None and credentials.certificate is None:
            cached = self._cached_tokens.get(credentials.authorization)
            if cached is not None and self.tokens.users.get(cached.token) is cached.user:
                return cached.authentication
        token, warnings = bearer_token(credentials.authorization)
        api_audiences = self.api_audiences if audiences is None else tuple(audiences)
        errors: list[str] = []
        if credentials.certificate is not None:
            user, reasons = self._shown_by(credentials.certificate, credentials, now)
            if user is not None:
                return Authentication(_completed(user), api_audiences)
            errors += reasons
        if token:
            # upstream's own token of the loopback, which is tried first, says so of every other
            errors.insert(0, INVALID_TOKEN)
            try:
                authentication = self._bearer(token, api_audiences, now)
            except TokenRefused as error:
                errors.append(str(error))
            else:
                if audiences is None:
                    self._remember(credentials.authorization, token, authentication)
                return authentication
        if errors:
            return Authentication(None, error=aggregated(errors), warnings=warnings)
        if not self.anonymous:
            return Authentication(None, warnings=warnings)
        return Authentication(User(ANONYMOUS, (UNAUTHENTICATED,)), api_audiences, warnings=warnings)

    def _shown_by(
        self, certificate: bytes, credentials: Credentials, now: datetime.datetime
    ) -> tuple[User | None, list[str]]:
        """Return the user whom a front proxy vouches for, else that of a certificate, or why it
        shows none."""
        # late: it loads X.509
        from celadon.apiserver.authn.client_certificates import (
            CertificateRefused,
            certificate_user,
            vouched_user,
        )

        ways: list[tuple[SignedFor, Callable[[], User | None]]] = []
        if self.proxies is not None:
            headers = credentials.vouched
            vouched = partial(vouched_user, self.proxies, certificate, headers, now)
            ways.append((SignedFor.FRONT_PROXIES, vouched))
        if self.client_certificates:
            as_client = partial(certificate_user, certificate, now, has_uid=self.certificate_uids)
            ways.append((SignedFor.CLIENTS, as_client))
        errors = []
        for signed_for, way in ways:
            if signed_for not in credentials.signed_for:
                errors.append(UNKNOWN_AUTHORITY)
                continue
            try:
                user = way()
            except CertificateRefused as error:
                errors.append(str(error))
                continue
            if user is not None:
                return user, []
        return None, errors

    def _remember(self, header: str, token: str, authentication: Authentication) -> None:
        user = self.tokens.users.get(token)
        if user is None or len(header) > LONGEST:
            return
        if len(self._cached_tokens) >= _REMEMBERED:
            self._cached_tokens.clear()
        self._cached_tokens[header] = _CachedToken(token, user, authentication)

    def _bearer(
        self, token: str, audiences: tuple[str, ...], now: datetime.datetime
    ) -> Authentication:
        """Return whose token it is. Raises TokenRefused."""
        bearer = self._of_file(token, audiences)
        if bearer is None and self.accounts is not None:
            bearer = self.accounts.authenticate(token, audiences, now)
        if bearer is None:
            raise TokenRefused(INVALID_TOKEN)
        user = _completed(bearer.user)
        return Authentication(user, bearer.audiences, annotations=bearer.annotations)

    def _of_file(self, token: str, audiences: tuple[str, ...]) -> TokenBearer | None:
        """Return who bears a token of the file, which is good for the server's own audiences
        only."""
        user = self.tokens.users.get(token)
        good = tuple(audience for audience in self.api_audiences if audience in audiences)
        return None if user is None or not good else TokenBearer(user, good)


def _completed(user: User) -> User:
    """Return the user with the group of all who have proven who they are; who has proven to be
    nobody, has not."""
    if user.name == ANONYMOUS or UNAUTHENTICATED in user.groups:
        return user
    return with_group(user, AUTHENTICATED)


def bearer_token(header: str) -> tuple[str, tuple[str, ...]]:
    """Return the token of an Authorization header, empty if it has none, and warnings."""
    parts = header.strip(_SPACE).split(" ", 2)
    if len(parts) < 2 or parts[0].lower() != "bearer":
        return "", ()
    if not parts[1]:
        return "", (SPACE_BEFORE_TOKEN,) if len(parts) == 3 else ()
    return parts[1], ()
