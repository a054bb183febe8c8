"""TLS that runs itself: a certificate from a Secret, an authority of our own, bundles kept right.

The parts are: what is kept, and the steps in which it is renewed; what each replica shows; the
bundles that make others trust it; and the leader at work. The election itself is in
`celadon.apiserver.leaderelection`.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import re
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC
from datetime import datetime as DateTime
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from celadon.apiserver import self_signed
from celadon.apiserver.leaderelection import LeaderElection, LeaseError, LeaseRefused
from celadon.apiserver.operation import LIFE, Description, Family, Gauge, say, warn
from celadon.apiserver.tls import ChangingTls, context_with, server_context
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import METADATA, JsonDict, Needed, Shape
from celadon.kube.well_known_values import JSON_PATCH, TLS_SECRET
from celadon.late_patterns import late_pattern
from celadon.records import dataclass
from celadon.webhook.cluster import cluster_client
from celadon.webhook.cluster.informers import Watched, WatchedCollection

__all__ = ["AuthoritySettings", "ClusterLeases", "OwnAuthority", "SecretCertificate"]


# --- Cluster leases ----------------------------------------------------------
#
# The Leases of a cluster, for an election among replicas of the webhook.

_LEASE: Final[Shape] = {
    "metadata": METADATA,
    "spec": {
        "holderIdentity": str,
        "leaseDurationSeconds": int,
        "leaseTransitions": int,
        "acquireTime": str,
        "renewTime": str,
    },
}


class ClusterLeases:
    """`leader_election.Leases`, by a client of the cluster."""

    def __init__(self, client: cluster_client.ClusterClient) -> None:
        self._client = client

    async def get(self, path: str) -> JsonObject | None:
        """Return the Lease at a path; None if there is none."""
        with _lease_errors():
            try:
                lease: JsonObject = await self._client.get(path)
                cluster_client.require(lease, _LEASE, f"GET {path}")
            except cluster_client.ClusterRefusal as refusal:
                if refusal.code != cluster_client.NOT_FOUND:
                    raise
                return None
            return lease

    async def create(self, collection: str, lease: JsonObject) -> JsonObject:
        """Create a Lease, and return it as the cluster has it."""
        with _lease_errors():
            created: JsonObject = await self._client.create(collection, lease)
            return created

    async def update(self, path: str, lease: JsonObject) -> JsonObject:
        """Write a Lease, and return it as the cluster has it."""
        with _lease_errors():
            written: JsonObject = await self._client.update(path, lease)
            return written


@contextlib.contextmanager
def _lease_errors() -> Iterator[None]:
    try:
        yield
    except cluster_client.ClusterRefusal as error:
        raise LeaseRefused(str(error)) from error
    except cluster_client.ClusterError as error:
        raise LeaseError(str(error)) from error


# --- Kept certificates -------------------------------------------------------
#
# What a Secret keeps of our own authority, and what is to be done about it next.
#
# `ca.crt` are all authorities that clients should trust, the newest first, whose key is
# `ca.key`; `tls.crt` and `tls.key` are what the webhook shows. An authority is changed in
# steps, each of which leaves everybody able to connect: the new one is put before the old one;
# when all configurations have had both for a while, the webhook's certificate is signed by the
# new one; the old one goes when it ends. `renewed` takes the next step, if there is one.
# Nothing here talks to anybody.

AUTHORITY_NAME: Final = "celadon-webhook-ca"
SERVER_NAME: Final = "celadon-webhook"
AUTHORITY_LIFE: Final = datetime.timedelta(days=365)
AUTHORITY_LEAD: Final = datetime.timedelta(days=90)
"""So long before its end an authority gets a successor."""
CERTIFICATE_LIFE: Final = datetime.timedelta(days=90)
CERTIFICATE_LEAD: Final = datetime.timedelta(days=30)
URGENT: Final = datetime.timedelta(days=1)
"""So long before its end a certificate is renewed whoever may trust the new one."""

_BLOCK: Final = late_pattern(
    rb"-----BEGIN CERTIFICATE-----(?:(?!-----).)*+-----END CERTIFICATE-----\n?", re.DOTALL
)


class BrokenSecret(ValueError):
    """A Secret without a certificate and its key."""


@dataclass(frozen=True, slots=True)
class KeptCertificates:
    """PEM. `authorities` are the newest first; `pair` is what the webhook shows."""

    authorities: tuple[bytes, ...]
    authority_key: bytes = field(repr=False)
    pair: self_signed.Pair

    @property
    def bundle(self) -> bytes:
        """Return what clients should trust."""
        return b"".join(self.authorities)

    @property
    def newest(self) -> bytes:
        """Return the authority that signs."""
        return self.authorities[0]


@dataclass(frozen=True, slots=True)
class Wish:
    """Says what is wanted of certificates. `names` are those by which the webhook is reached;
    `trusted` says that all configurations have had the newest authority for long enough; `renew` is
    what somebody wants to have renewed now: `authority`, `certificate`, or nothing."""

    names: tuple[str, ...]
    trusted: bool = False
    renew: str = ""


def renewed(
    certificates: KeptCertificates | None, wish: Wish, now: datetime.datetime
) -> KeptCertificates | None:
    """Return the next step; None if there is nothing to do. `certificates` is None if none can be
    used."""
    if certificates is None:
        return _begun(wish, now)
    authorities = tuple(
        authority
        for index, authority in enumerate(certificates.authorities)
        if index == 0 or not _ends_by(authority, now)
    )
    changed = replace(certificates, authorities=authorities)
    is_under_way = not _signed(certificates.pair, certificates.newest)
    is_due = _ends_by(certificates.newest, now + AUTHORITY_LEAD) or wish.renew == "authority"
    if is_due and not is_under_way:
        key = self_signed.new_elliptic_key()
        added = self_signed.authority_certificate(key, AUTHORITY_NAME, now, AUTHORITY_LIFE)
        return replace(changed, authorities=(added, *authorities), authority_key=key)
    if _wants_pair(changed, wish, now) and _may_renew(changed, wish, now):
        return replace(changed, pair=_pair(changed.newest, changed.authority_key, wish, now))
    return changed if changed != certificates else None


def _begun(wish: Wish, now: datetime.datetime) -> KeptCertificates:
    key = self_signed.new_elliptic_key()
    authority = self_signed.authority_certificate(key, AUTHORITY_NAME, now, AUTHORITY_LIFE)
    return KeptCertificates((authority,), key, _pair(authority, key, wish, now))


def _pair(authority: bytes, key: bytes, wish: Wish, now: datetime.datetime) -> self_signed.Pair:
    server_key = self_signed.new_elliptic_key()
    signer = self_signed.Pair(authority, key)
    certificate = self_signed.server_certificate(
        signer, server_key, SERVER_NAME, wish.names, now, CERTIFICATE_LIFE
    )
    return self_signed.Pair(certificate, server_key)


def _wants_pair(certificates: KeptCertificates, wish: Wish, now: datetime.datetime) -> bool:
    return (
        wish.renew == "certificate"
        or not _names_all(certificates.pair, wish.names)
        or not _signed(certificates.pair, certificates.newest)
        or _ends_by(certificates.pair.certificate, now + CERTIFICATE_LEAD)
    )


def _may_renew(certificates: KeptCertificates, wish: Wish, now: datetime.datetime) -> bool:
    """Return whether clients that connect now would trust what the newest authority signs; or have
    no reason to trust what there is."""
    return (
        wish.trusted
        or len(certificates.authorities) == 1
        or not _names_all(certificates.pair, wish.names)
        or _ends_by(certificates.pair.certificate, now + URGENT)
    )


def _names_all(pair: self_signed.Pair, names: Iterable[str]) -> bool:
    return self_signed.covers_names(x509.load_pem_x509_certificate(pair.certificate), names)


def _signed(pair: self_signed.Pair, authority: bytes) -> bool:
    certificate = x509.load_pem_x509_certificate(pair.certificate)
    try:
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def _ends_by(certificate: bytes, moment: datetime.datetime) -> bool:
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc <= moment


def pair_in(data: Mapping[str, str]) -> self_signed.Pair:
    """Return what a Secret's `data` says is to be shown; its own, or cert-manager's. Raises
    BrokenSecret."""
    pair = self_signed.Pair(_decoded(data, "tls.crt"), _decoded(data, "tls.key"))
    try:
        x509.load_pem_x509_certificate(pair.certificate)
    except (ValueError, x509.InvalidVersion):
        raise BrokenSecret("`tls.crt` is no certificate") from None
    return pair


def bundle_in(data: Mapping[str, str]) -> bytes:
    """Return the authorities, as PEM; empty if the Secret names none."""
    return _decoded(data, "ca.crt") if data.get("ca.crt") else b""


def kept_in(data: Mapping[str, str]) -> KeptCertificates:
    """Return what the data of a Secret that we wrote keep. Raises BrokenSecret."""
    authorities = tuple(_BLOCK.findall(_decoded(data, "ca.crt")))
    try:
        for authority in authorities:
            x509.load_pem_x509_certificate(authority)
    except (ValueError, x509.InvalidVersion):
        authorities = ()
    if not authorities:
        raise BrokenSecret("`ca.crt` has no certificate")
    return KeptCertificates(authorities, _decoded(data, "ca.key"), pair_in(data))


def secret_data(certificates: KeptCertificates) -> dict[str, str]:
    """Return the `data` of the Secret."""
    contents = {
        "ca.crt": certificates.bundle,
        "ca.key": certificates.authority_key,
        "tls.crt": certificates.pair.certificate,
        "tls.key": certificates.pair.key,
    }
    return {name: base64.b64encode(content).decode() for name, content in contents.items()}


def _decoded(data: Mapping[str, str], name: str) -> bytes:
    try:
        decoded = base64.b64decode(data.get(name) or "", validate=True)
    except ValueError:  # binascii.Error, or what is not ASCII
        decoded = b""
    if not decoded:
        raise BrokenSecret(f"`{name}` is missing")
    return decoded


# --- Secret certificate ------------------------------------------------------
#
# The certificate that the webhook shows, from a Secret of the cluster.
#
# The Secret is watched: cert-manager's, or the one that our own authority is kept in. A new
# pair is shown to whoever connects next; one that cannot be used is logged, and the old one
# stays.

WATCH_SECONDS = 300.0


class SecretCertificate:
    """A `Certificate` of the service. `prepare` is what else a context needs (whom to trust of the
    callers)."""

    def __init__(
        self,
        client: cluster_client.ClusterClient,
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
        self._pair: self_signed.Pair | None = None
        self._expires = 0.0
        self._secrets = WatchedCollection(
            client,
            Watched(
                [self.collection],
                {"fieldSelector": f"metadata.name={name}"},
                WATCH_SECONDS,
                {"data": {str: str}},
            ),
            self._take,
            time.monotonic,
        )

    @property
    def context(self) -> ssl.SSLContext:
        """The listener serves with this; before there is a certificate, no handshake succeeds."""
        return self._tls.context

    @property
    def is_known(self) -> bool:
        """Return whether it is known if there is a Secret."""
        return self._secrets.is_synced

    @property
    def missing(self) -> str:
        """Return what is waited for; empty when there is a certificate."""
        if self._pair is not None:
            return ""
        because = f" ({self._secrets.failure})" if self._secrets.failure else ""
        return f"the certificate in the secret `{self.namespace}/{self.name}`{because}"

    def reload(self) -> bool:
        """Do nothing: the cluster tells of a new certificate."""
        return False

    def expires(self) -> float:
        """Return the end of the certificate in Unix time; 0 while there is none."""
        return self._expires

    def secret(self) -> JsonObject | None:
        """Return the Secret as it is now; None if there is none."""
        return self._secrets.get(self.namespace, self.name)

    def trusted(self) -> bytes:
        """Return the authorities that the Secret names (PEM), for the `caBundle`; may be empty."""
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
            if pair == self._pair:
                return
            context = context_with(pair.certificate, pair.key)
            self._prepare(context)
        except (BrokenSecret, OSError) as error:
            where = {"secret": f"{metadata.namespace(secret)}/{self.name}", "err": str(error)}
            warn("the certificate of a secret cannot be used", where)
            return
        self._tls.use(context)
        self._pair = pair
        end = x509.load_pem_x509_certificate(pair.certificate).not_valid_after_utc
        self._expires = end.timestamp()
        say(LIFE, "the certificate was taken from its secret", {"expires": end.isoformat()})


# --- Trusted bundles ---------------------------------------------------------
#
# The `caBundle` of webhook configurations, kept right.
#
# Each configuration of a given name, validating and mutating, is watched; where one of its
# hooks has another bundle than it should, that alone is patched, on the version that was seen.
# Whoever replaces the configuration, a deployment tool for instance, has it put right again at
# once. A name that no configuration has may be a mistake, or the configuration is still to
# come: `remarks` tells of it.

REGISTRATION: Final = "/apis/admissionregistration.k8s.io/v1"
KINDS: Final = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
BUNDLE_WATCH_SECONDS: Final = 300.0


class TrustedBundles:
    """Keeps the `caBundle` of the configurations with these names. `changed` is called when one of
    them has changed."""

    def __init__(
        self,
        client: cluster_client.ClusterClient,
        names: Iterable[str],
        changed: Callable[[], None],
    ) -> None:
        self._client = client
        self._changed = changed
        self._watched_objects = {
            name: tuple(self._watched(kind, name) for kind in KINDS) for name in names
        }
        self._refused: dict[str, str] = {}

    def _watched(self, kind: str, name: str) -> WatchedCollection:
        only = {"fieldSelector": f"metadata.name={name}"}
        shape = {"webhooks": [Needed({"clientConfig": {"caBundle": str}})]}
        watched = Watched([f"{REGISTRATION}/{kind}"], only, BUNDLE_WATCH_SECONDS, shape)
        return WatchedCollection(self._client, watched, self._changed, time.monotonic)

    @property
    def _collections(self) -> Iterator[WatchedCollection]:
        for both in self._watched_objects.values():
            yield from both

    async def run(self) -> None:
        """Follow the configurations, until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            for collection in self._collections:
                group.create_task(collection.run())

    def are(self, bundle: bytes) -> bool:
        """Return whether all hooks are known to have it. Configurations that are not there yet need
        nothing."""
        return all(collection.is_synced for collection in self._collections) and not any(
            True for _ in self._wrong(bundle)
        )

    def trusting(self, bundle: bytes) -> Mapping[str, bool]:
        """Return for each name whether there is a configuration, and all of its hooks have the
        bundle."""
        encoded = base64.b64encode(bundle).decode()
        return {name: _all_trust(both, encoded) for name, both in self._watched_objects.items()}

    def remarks(self) -> Iterator[str]:
        """Yield why some bundle is not kept, where somebody has to do something about it."""
        for name, both in self._watched_objects.items():
            failures = [
                collection.failure
                for collection in both
                if not collection.is_synced and collection.failure
            ]
            if failures:
                yield f"the webhook configuration `{name}` cannot be read: {failures[0]}"
            elif all(collection.is_synced for collection in both) and not any(
                True for collection in both for _ in collection
            ):
                yield f"there is no webhook configuration `{name}`"
        for path, failure in self._refused.items():
            yield f"the caBundle of `{path}` cannot be written: {failure}"

    async def put(self, bundle: bytes) -> None:
        """Put the bundle wherever there is another one."""
        wrong = list(self._wrong(bundle))
        self._refused = {path: self._refused[path] for path, _ in wrong if path in self._refused}
        for path, patch in wrong:
            try:
                await self._client.patch(path, patch, JSON_PATCH)
                say(LIFE, "the caBundle of a configuration was put right", {"path": path})
            except cluster_client.ClusterError as error:
                self._refused[path] = str(error)
            else:
                self._refused.pop(path, None)

    def _wrong(self, bundle: bytes) -> Iterator[tuple[str, list[JsonDict]]]:
        encoded = base64.b64encode(bundle).decode()
        for collection in self._collections:
            for configuration in collection:
                patch = bundle_patch(configuration, encoded)
                if patch:
                    path = f"{collection.watched.paths[0]}/{metadata.name(configuration)}"
                    yield path, patch


def _all_trust(collections: Iterable[WatchedCollection], bundle: str) -> bool:
    result = [item for collection in collections for item in collection]
    return bool(result) and not any(bundle_patch(item, bundle) for item in result)


def bundle_patch(configuration: JsonObject, bundle: str) -> list[JsonDict]:
    """Return what puts all hooks right; empty if they are. `bundle` is base64."""
    changes = [
        {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": bundle}
        for index, hook in enumerate(configuration.get("webhooks") or ())
        if (hook.get("clientConfig") or {}).get("caBundle") != bundle
    ]
    if not changes:
        return []
    revision = metadata.metadata(configuration).get("resourceVersion")
    return [{"op": "test", "path": "/metadata/resourceVersion", "value": revision}, *changes]


# --- Own authority -----------------------------------------------------------
#
# Our own authority at work: the leader renews what is in the Secret, and keeps bundles right.
#
# All replicas show what the Secret says; only the leader writes it. Without `own`, the Secret
# is somebody else's (cert-manager's), and only the bundles are kept. A Secret that is annotated
# with `celadon.dev/renew: authority` or `certificate` is renewed now. What keeps any of this
# from being done is a remark: logged when it comes and when it goes, and shown for as long as
# it lasts.

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
    """Holds the settings of the webhook's own authority. `names` are those by which the webhook is
    reached; `configurations` those whose bundles are kept; `settle` is in seconds."""

    names: tuple[str, ...]
    configurations: tuple[str, ...] = ()
    is_own: bool = True
    settle: float = SETTLE_SECONDS


class OwnAuthority:
    """Keeps an authority of the webhook's own. Let it `run` beside the webhook; `clock` is Unix
    time."""

    def __init__(
        self,
        client: cluster_client.ClusterClient,
        certificate: SecretCertificate,
        settings: AuthoritySettings,
        election: LeaderElection,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._certificate = certificate
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
        """Renew until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._certificate.run())
            group.create_task(self._bundles.run())
            group.create_task(self._election.run(self._lead))

    def remarks(self) -> Iterator[str]:
        """Yield what is not as it should be, and does not come right by itself."""
        if self._failure:
            yield f"the certificates cannot be renewed: {self._failure}"
        yield from self._bundles.remarks()
        secret = self._certificate.secret()
        if self._settings.configurations and secret is not None and not self._certificate.trusted():
            shown = self._certificate
            yield f"the secret `{shown.namespace}/{shown.name}` has no `ca.crt`"

    def families(self) -> tuple[Family, ...]:
        """Return what `/metrics` shows: which configurations have the current bundle."""
        trusting = self._bundles.trusting
        return (
            Gauge(
                CURRENT_BUNDLES,
                lambda: {
                    (name,): int(is_so)
                    for name, is_so in trusting(self._certificate.trusted()).items()
                },
            ),
        )

    def _configurations_changed(self) -> None:
        self._certificate.changed.set()
        self._say_remarks()

    def _say_remarks(self) -> None:
        """Log the remarks that have come, and those that have gone, since the last call."""
        remarks = tuple(self.remarks())
        for remark in remarks:
            if remark not in self._remarked:
                warn("the certificates and caBundles cannot be kept", {"err": remark})
        for remark in self._remarked:
            if remark not in remarks:
                say(
                    LIFE,
                    "what was in the way of certificates and caBundles is gone",
                    {"was": remark},
                )
        self._remarked = remarks

    async def _lead(self) -> None:
        while True:
            self._certificate.changed.clear()
            pause = RETRY_SECONDS
            if self._certificate.is_known:
                pause = await self.step()
            try:
                async with asyncio.timeout(pause):
                    await self._certificate.changed.wait()
            except TimeoutError:
                continue

    async def step(self) -> float:
        """Return what is to be done now; the seconds until something could be to do without a
        change."""
        bundle = self._certificate.trusted()
        if bundle:
            await self._bundles.put(bundle)
        self._notice(bundle)
        pause = LOOK_SECONDS
        if self._settings.is_own:
            try:
                pause = self._pause(wrote=await self._renew())
                self._failure = ""
            except cluster_client.ClusterError as error:
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
        """Note since when all configurations have had this bundle."""
        if not bundle or not self._bundles.are(bundle):
            self._trusted, self._trusted_since = b"", float("inf")
        elif bundle != self._trusted:
            self._trusted, self._trusted_since = bundle, self._clock()

    async def _renew(self) -> bool:
        """Return whether the Secret was written. Raises ClusterError."""
        secret = self._certificate.secret()
        certificates, broken = (None, "") if secret is None else _kept(secret)
        is_settled = self._trusted_since + self._settings.settle <= self._clock()
        renew = "" if secret is None else metadata.annotations(secret).get(RENEW, "")
        wish = Wish(self._settings.names, is_settled, renew)
        renewal = renewed(certificates, wish, DateTime.fromtimestamp(self._clock(), UTC))
        if renewal is None:
            return False
        await self._write(secret, renewal)
        if broken:
            warn("the secret was made anew", {"secret": self._certificate.name, "err": broken})
        subject = (
            "authority"
            if certificates is None or renewal.newest != certificates.newest
            else "certificate"
        )
        say(LIFE, "the certificates were renewed", {"what": subject})
        return True

    async def _write(self, secret: JsonObject | None, certificates: KeptCertificates) -> None:
        """Write the Secret on the basis of what was seen of it; somebody else's write is a
        conflict, and looked at next."""
        document: JsonDict = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": self._certificate.name, "namespace": self._certificate.namespace},
            "type": TLS_SECRET,
            "data": secret_data(certificates),
        }
        if secret is None:
            await self._client.create(self._certificate.collection, document)
            return
        about = dict(metadata.metadata(secret))
        about["annotations"] = {
            key: text for key, text in metadata.annotations(secret).items() if key != RENEW
        }
        document |= {"metadata": about, "type": secret.get("type", TLS_SECRET)}
        document["data"] = {**(secret.get("data") or {}), **document["data"]}
        await self._client.update(
            f"{self._certificate.collection}/{self._certificate.name}", document
        )


def _kept(secret: JsonObject) -> tuple[KeptCertificates | None, str]:
    """Return what is kept, and what is wrong with it."""
    try:
        return kept_in(secret.get("data") or {}), ""
    except BrokenSecret as error:
        return None, str(error)
