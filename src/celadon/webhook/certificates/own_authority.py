"""Our own authority at work: the leader renews what is in the Secret, and keeps bundles right.

All replicas show what the Secret says; only the leader writes it. Without `own`, the Secret is
somebody else's (cert-manager's), and only the bundles are kept. A Secret that is annotated with
`celadon.dev/renew: authority` or `certificate` is renewed now. What keeps any of this from being
done is a remark: logged when it comes and when it goes, and shown for as long as it lasts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from celadon.kube import JsonObject, metadata
from celadon.kube.well_known_values import TLS_SECRET
from celadon.records import dataclass
from celadon.serve.leading import LeaderElection
from celadon.serve.operation import LIFE, Description, Family, Gauge, say, warn
from celadon.webhook.certificates.kept_certificates import (
    BrokenSecret,
    KeptCertificates,
    Wish,
    kept_in,
    renewed,
    secret_data,
)
from celadon.webhook.certificates.secret_certificate import SecretCertificate
from celadon.webhook.certificates.trusted_bundles import TrustedBundles
from celadon.webhook.cluster.cluster_client import ClusterClient, ClusterError

RENEW: Final = "celadon.dev/renew"
LOOK_SECONDS: Final = 60.0
"""Between two looks at what may have come of age."""
RETRY_SECONDS: Final = 2.0
SETTLE_SECONDS: Final = 5.0
"""So long after all configurations have a new authority, API servers are taken to know it. They
watch configurations, so it takes them less than one."""

CURRENT_BUNDLES: Final = Description(
    "celadon_webhook_ca_bundle_current",
    "1 while there is a webhook configuration of the name, and all of its webhooks have the "
    "caBundle of the certificate in use.",
    ("configuration",),
)


@dataclass(frozen=True, slots=True)
class AuthoritySettings:
    """`names` are those by which the webhook is reached; `configurations` those whose bundles are
    kept; `settle` is in seconds."""

    names: tuple[str, ...]
    configurations: tuple[str, ...] = ()
    own: bool = True
    settle: float = SETTLE_SECONDS


class OwnAuthority:
    """`run` beside the webhook; `clock` is Unix time."""

    def __init__(
        self,
        client: ClusterClient,
        shown: SecretCertificate,
        settings: AuthoritySettings,
        election: LeaderElection,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._shown = shown
        self._settings = settings
        self._election = election
        self._clock = clock
        self._bundles = TrustedBundles(
            client, settings.configurations, self._configurations_changed
        )
        self._trusted = b""
        self._trusted_since = float("inf")
        self._failure = ""
        self._remarked: tuple[str, ...] = ()

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._shown.run())
            group.create_task(self._bundles.run())
            group.create_task(self._election.run(self._lead))

    def remarks(self) -> Iterator[str]:
        """What is not as it should be, and does not come right by itself."""
        if self._failure:
            yield f"the certificates cannot be renewed: {self._failure}"
        yield from self._bundles.remarks()
        secret = self._shown.secret()
        if self._settings.configurations and secret is not None and not self._shown.trusted():
            yield f"the secret `{self._shown.namespace}/{self._shown.name}` has no `ca.crt`"

    def families(self) -> tuple[Family, ...]:
        """For `/metrics`."""
        trusting = self._bundles.trusting
        return (
            Gauge(
                CURRENT_BUNDLES,
                lambda: {
                    (name,): int(is_so) for name, is_so in trusting(self._shown.trusted()).items()
                },
            ),
        )

    def _configurations_changed(self) -> None:
        self._shown.changed.set()
        self._say_remarks()

    def _say_remarks(self) -> None:
        """Those that have come or gone since."""
        remarks = tuple(self.remarks())
        for one in remarks:
            if one not in self._remarked:
                warn("the certificates and caBundles cannot be kept", {"err": one})
        for one in self._remarked:
            if one not in remarks:
                say(LIFE, "what was in the way of certificates and caBundles is gone", {"was": one})
        self._remarked = remarks

    async def _lead(self) -> None:
        while True:
            self._shown.changed.clear()
            pause = RETRY_SECONDS
            if self._shown.is_known:
                pause = await self.step()
            try:
                async with asyncio.timeout(pause):
                    await self._shown.changed.wait()
            except TimeoutError:
                continue

    async def step(self) -> float:
        """What is to be done now; the seconds until something could be to do without a change."""
        bundle = self._shown.trusted()
        if bundle:
            await self._bundles.put(bundle)
        self._notice(bundle)
        pause = LOOK_SECONDS
        if self._settings.own:
            try:
                pause = self._pause(wrote=await self._renew())
                self._failure = ""
            except ClusterError as error:
                self._failure = str(error)
                pause = RETRY_SECONDS
        self._say_remarks()
        return pause

    def _pause(self, *, wrote: bool) -> float:
        settled = self._trusted_since + self._settings.settle - self._clock()
        if wrote or 0 < settled < LOOK_SECONDS:
            return max(0.05, min(settled, RETRY_SECONDS))
        return LOOK_SECONDS if settled <= 0 else RETRY_SECONDS

    def _notice(self, bundle: bytes) -> None:
        """Since when all configurations have had this bundle."""
        if not bundle or not self._bundles.are(bundle):
            self._trusted, self._trusted_since = b"", float("inf")
        elif bundle != self._trusted:
            self._trusted, self._trusted_since = bundle, self._clock()

    async def _renew(self) -> bool:
        """Whether the Secret was written. Raises ClusterError."""
        secret = self._shown.secret()
        kept, broken = (None, "") if secret is None else _kept(secret)
        is_settled = self._trusted_since + self._settings.settle <= self._clock()
        renew = "" if secret is None else metadata.annotations(secret).get(RENEW, "")
        wish = Wish(self._settings.names, is_settled, renew)
        made = renewed(kept, wish, datetime.fromtimestamp(self._clock(), UTC))
        if made is None:
            return False
        await self._write(secret, made)
        if broken:
            warn("the secret was made anew", {"secret": self._shown.name, "err": broken})
        what = "authority" if kept is None or made.newest != kept.newest else "certificate"
        say(LIFE, "the certificates were renewed", {"what": what})
        return True

    async def _write(self, secret: JsonObject | None, made: KeptCertificates) -> None:
        """On what was seen of it; somebody else's write is a conflict, and looked at next."""
        document: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": self._shown.name, "namespace": self._shown.namespace},
            "type": TLS_SECRET,
            "data": secret_data(made),
        }
        if secret is None:
            await self._client.create(self._shown.collection, document)
            return
        about = dict(metadata.metadata(secret))
        about["annotations"] = {
            key: text for key, text in metadata.annotations(secret).items() if key != RENEW
        }
        document |= {"metadata": about, "type": secret.get("type", TLS_SECRET)}
        document["data"] = {**(secret.get("data") or {}), **document["data"]}
        await self._client.update(f"{self._shown.collection}/{self._shown.name}", document)


def _kept(secret: JsonObject) -> tuple[KeptCertificates | None, str]:
    """And what is wrong with it."""
    try:
        return kept_in(secret.get("data") or {}), ""
    except BrokenSecret as error:
        return None, str(error)
