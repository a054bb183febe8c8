"""The key of service account tokens, read when the first of them is signed or shown.

Most servers of a test never see one, and loading what knows of keys takes a tenth of a start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from celadon.serve.access.credentials.signed_tokens import SignedToken

if TYPE_CHECKING:
    from celadon.serve.access.credentials.signing_keys import Signer


class SignerOnDemand:
    """`pem` gives the private key, and may raise what reading it raises."""

    def __init__(self, pem: Callable[[], bytes]) -> None:
        self._pem = pem
        self._read: Signer | None = None

    def signer(self) -> Signer:
        """Raises KeyFileError for a key that cannot be used."""
        if self._read is None:
            from celadon.serve.access.credentials.signing_keys import Signer  # late: see above

            self._read = Signer.from_pem(self._pem())
        return self._read

    def sign(self, claims: Mapping[str, Any]) -> str:
        """The token; members of the claims are sorted by name."""
        return self.signer().sign(claims)

    def verify(self, token: SignedToken) -> None:
        """Raises SignatureRefused unless the key made the signature."""
        from celadon.serve.access.credentials.signing_keys import verify  # late: see above

        verify(token, (self.signer().public_key,))
