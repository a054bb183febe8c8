"""Proving to a server who we are: the headers of each request, and a certificate for TLS.

A token in a file is read again once a minute, since those of service accounts are replaced there;
what an exec plugin printed is kept until it ends, or until the server no longer takes it. As
k8s.io/client-go `transport`, `rest` and `plugin/pkg/client/auth/exec`.
"""

from __future__ import annotations

import base64
import ssl
from collections.abc import Callable
from typing import Final

from celadon.serve.outgoing.exec_plugin import (
    ExecCredential,
    ExecFailure,
    ExecTarget,
    run_plugin,
)
from celadon.serve.outgoing.kubeconfig_file import KubeconfigUser
from celadon.serve.tls.private_files import load_pair

TOKEN_SECONDS: Final = 60.0
"""How long a token that was read from a file is used."""

Headers = tuple[tuple[bytes, bytes], ...]


class CredentialsError(Exception):
    """Why we cannot say who we are."""


class ClientCredentials:
    """Of one user. `clock` are seconds since the epoch; `target` is what an exec plugin may be
    told about the server."""

    def __init__(
        self,
        user: KubeconfigUser,
        clock: Callable[[], float],
        target: ExecTarget | None = None,
    ) -> None:
        self._user = user
        self._clock = clock
        self._target = ExecTarget("") if target is None else target
        self._token = ""
        self._token_until = 0.0
        self._printed: ExecCredential | None = None

    async def headers(self) -> Headers:
        """For a request now. Raises CredentialsError."""
        impersonated = tuple(
            (key.encode(), text.encode()) for key, text in self._user.impersonation
        )
        return *await self._authorization(), *impersonated

    async def _authorization(self) -> Headers:
        user = self._user
        if user.auth_provider:
            raise CredentialsError("auth provider not supported")
        token = self._file_token() if user.token_file is not None else user.token
        if not token and user.exec_command is not None:
            token = (await self._plugin()).token
        if token:
            return ((b"Authorization", f"Bearer {token}".encode()),)
        if user.username:
            pair = f"{user.username}:{user.password}".encode()
            return ((b"Authorization", b"Basic " + base64.b64encode(pair)),)
        return ()

    def _file_token(self) -> str:
        """A file that cannot be read just now leaves the token as it was."""
        assert self._user.token_file is not None, "asked only for tokens in files"
        now = self._clock()
        if not self._token_until > now:
            try:
                self._token = self._user.token_file.read_text("utf-8").strip()
                self._token_until = now + TOKEN_SECONDS
            except (OSError, UnicodeDecodeError) as error:
                if not self._token:
                    raise CredentialsError(f"the token cannot be read: {error}") from None
        return self._token

    async def _plugin(self) -> ExecCredential:
        printed = self._printed
        if printed is None or printed.until <= self._clock():
            assert self._user.exec_command is not None, "asked only where there is a plugin"
            try:
                printed = await run_plugin(self._user.exec_command, self._target)
            except ExecFailure as error:
                raise CredentialsError(str(error)) from None
            self._printed = printed
        return printed

    def refused(self) -> None:
        """The server did not take what it was shown: nothing that is kept is shown again."""
        self._token_until = 0.0
        self._printed = None

    @property
    def in_headers(self) -> bool:
        """Whether requests alone show them; else connections do, too, and are to be made anew."""
        return not self._user.certificate and self._user.exec_command is None

    async def load(self, context: ssl.SSLContext) -> None:
        """Put the certificate of the user, if there is one, into the client's side of TLS. Raises
        CredentialsError."""
        certificate, key = self._user.certificate, self._user.key
        if not certificate and self._user.exec_command is not None:
            printed = await self._plugin()
            certificate, key = printed.certificate, printed.key
        if not certificate:
            return
        try:
            load_pair(context, certificate, key)
        except OSError as error:
            raise CredentialsError(f"not a client certificate with its key: {error}") from None
