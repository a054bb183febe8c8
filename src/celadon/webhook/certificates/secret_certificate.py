"""The certificate that the webhook shows, from a Secret of the cluster.

The Secret is watched: cert-manager's, or the one that our own authority is kept in. A new pair is
shown to whoever connects next; one that cannot be used is logged, and the old one stays.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable

from cryptography import x509

from celadon.kube import JsonObject, metadata
from celadon.serve.operation import LIFE, say, warn
from celadon.serve.tls import ChangingTls, context_with, server_context
from celadon.serve.tls.issuing import Pair
from celadon.webhook.certificates.kept_certificates import BrokenSecret, bundle_in, pair_in
from celadon.webhook.cluster.cluster_client import ClusterClient
from celadon.webhook.cluster.watched_collection import Watched, WatchedCollection

WATCH_SECONDS = 300.0


class SecretCertificate:
    """A `Certificate` of the service. `prepare` is what else a context needs (whom to trust of the
    callers)."""

    def __init__(
        self,
        client: ClusterClient,
        namespace: str,
        name: str,
        prepare: Callable[[ssl.SSLContext], None] = lambda _: None,
    ) -> None:
        self.collection = f"/api/v1/namespaces/{namespace}/secrets"
        self.name = name
        self.namespace = namespace
        self.changed = asyncio.Event()
        self._prepare = prepare
        self._tls = ChangingTls(server_context())
        self._shown: Pair | None = None
        self._expires = 0.0
        self._secrets = WatchedCollection(
            client,
            Watched([self.collection], {"fieldSelector": f"metadata.name={name}"}, WATCH_SECONDS),
            self._take,
            time.monotonic,
        )

    @property
    def context(self) -> ssl.SSLContext:
        """For the listener; before there is a certificate, no handshake succeeds."""
        return self._tls.context

    @property
    def is_known(self) -> bool:
        """Whether it is known if there is a Secret."""
        return self._secrets.is_synced

    @property
    def missing(self) -> str:
        """What is waited for; empty when there is a certificate."""
        if self._shown is not None:
            return ""
        because = f" ({self._secrets.failure})" if self._secrets.failure else ""
        return f"the certificate in the secret `{self.namespace}/{self.name}`{because}"

    def reload(self) -> bool:
        """Nothing to look at: the cluster tells."""
        return False

    def expires(self) -> float:
        """In Unix time; 0 while there is none."""
        return self._expires

    def secret(self) -> JsonObject | None:
        """As it is now."""
        return self._secrets.get(self.namespace, self.name)

    def trusted(self) -> bytes:
        """The authorities that the Secret names (PEM), for the `caBundle`; may be empty."""
        secret = self.secret()
        try:
            return b"" if secret is None else bundle_in(secret.get("data") or {})
        except BrokenSecret:
            return b""

    async def run(self) -> None:
        """Follow the Secret, until it is cancelled."""
        await self._secrets.run()

    def _take(self) -> None:
        self.changed.set()
        secret = self.secret()
        if secret is None:
            return
        try:
            pair = pair_in(secret.get("data") or {})
            if pair == self._shown:
                return
            context = context_with(pair.certificate, pair.key)
            self._prepare(context)
        except (BrokenSecret, OSError) as error:
            where = {"secret": f"{metadata.namespace(secret)}/{self.name}", "err": str(error)}
            warn("the certificate of a secret cannot be used", where)
            return
        self._tls.use(context)
        self._shown = pair
        end = x509.load_pem_x509_certificate(pair.certificate).not_valid_after_utc
        self._expires = end.timestamp()
        say(LIFE, "the certificate was taken from its secret", {"expires": end.isoformat()})
