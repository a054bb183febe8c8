"""Replicas with an authority of their own: what they show is trusted by what configurations say."""

from __future__ import annotations

import asyncio
import base64
import datetime
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from celadon.apiserver.http import CredentialsFolder
from celadon.apiserver.leaderelection import LeaderElection, LeaseError, LeaseRefused, leases_path
from celadon.apiserver.operation import exposition
from celadon.testing import KubeApi
from celadon.webhook.certificates import (
    AuthoritySettings,
    ClusterLeases,
    OwnAuthority,
    SecretCertificate,
    TrustedBundles,
    bundle_patch,
)
from celadon.webhook.cluster.cluster_client import ClusterClient, ClusterRefusal, ClusterUnreachable
from celadon.webhook.cluster.cluster_policies import ClusterPolicies, PolicySettings
from celadon.webhook.installation import access_manifests
from celadon.webhook.webhook_rules import Certificates, InstallationSettings
from tests.webhook.cluster.against_server import client_of, until

NAME = "hook.default.svc"
SECRET = "/api/v1/namespaces/default/secrets/tls"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
SETTINGS = AuthoritySettings((NAME,), ("hooks",), settle=0.2)


def configuration(name: str, *hooks: str) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [
            {
                "name": f"{hook}.example.com",
                "clientConfig": {"url": "https://127.0.0.1:1"},
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Ignore",
                "rules": [],
            }
            for hook in hooks
        ],
    }


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi([configuration("hooks", "a", "b"), configuration("others", "c")]) as started:
        yield started


@asynccontextmanager
async def replica(
    client: ClusterClient, identity: str, settings: AuthoritySettings = SETTINGS
) -> AsyncIterator[SecretCertificate]:
    shown = SecretCertificate(client, "default", "tls")
    async with keeping(client, shown, settings, identity):
        yield shown


@asynccontextmanager
async def keeping(
    client: ClusterClient,
    shown: SecretCertificate,
    settings: AuthoritySettings,
    identity: str = "one",
) -> AsyncIterator[OwnAuthority]:
    election = LeaderElection(ClusterLeases(client), leases_path("default"), shown.name, identity)
    authority = OwnAuthority(client, shown, settings, election)
    running = asyncio.create_task(authority.run())
    try:
        yield authority
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def bundles(api: KubeApi, name: str = "hooks") -> set[str]:
    found = api.request("GET", f"{CONFIGURATIONS}/{name}")
    return {hook["clientConfig"].get("caBundle", "") for hook in found["webhooks"]}


def shakes_hands(shown: SecretCertificate, bundle: bytes) -> bool:
    """In memory: a client that trusts the bundle, and the server."""
    client = ssl.create_default_context(cadata=bundle.decode())
    client.verify_flags &= ~ssl.VERIFY_X509_STRICT
    ends = socket.socketpair()
    bios = [(ssl.MemoryBIO(), ssl.MemoryBIO()) for _ in ends]
    for end in ends:
        end.close()
    sides = [
        shown.context.wrap_bio(*bios[0], server_side=True),
        client.wrap_bio(*bios[1], server_hostname=NAME),
    ]
    for _ in range(6):
        for side in sides:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                pass
            except ssl.SSLError:
                return False
        for (_, out), (into, _) in ((bios[0], bios[1]), (bios[1], bios[0])):
            into.write(out.read())
    return True


def test_two_replicas_show_what_one_has_made(api: KubeApi) -> None:
    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(api.admin))
            one = await stack.enter_async_context(replica(client, "one"))
            two = await stack.enter_async_context(replica(client, "two"))
            assert one.missing
            await until(lambda: not one.missing and not two.missing)
            secret = api.request("GET", SECRET)
            assert secret["type"] == "kubernetes.io/tls"
            assert set(secret["data"]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}
            await until(lambda: bundles(api) == {secret["data"]["ca.crt"]})
            assert bundles(api, "others") == {""}
            for shown in (one, two):
                assert shakes_hands(shown, one.trusted())
                assert shown.expires() > 0

    asyncio.run(run())


def test_an_authority_is_changed_and_nobody_notices(api: KubeApi) -> None:
    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(api.admin))
            shown = await stack.enter_async_context(replica(client, "one"))
            await until(lambda: not shown.missing)
            first = shown.trusted()
            await until(lambda: bundles(api) == {base64.b64encode(first).decode()})
            annotation = {"metadata": {"annotations": {"celadon.dev/renew": "authority"}}}
            api.request("PATCH", SECRET, annotation)

            def is_fine() -> bool:
                (bundle,) = bundles(api)
                assert shakes_hands(shown, base64.b64decode(bundle)), "at every moment"
                return not shakes_hands(shown, first)

            await until(is_fine)
            secret = api.request("GET", SECRET)
            assert "annotations" not in secret["metadata"]
            assert shown.trusted().endswith(first), "the old authority is trusted until it ends"

    asyncio.run(run())


def test_a_bundle_that_somebody_breaks_is_put_right(api: KubeApi) -> None:
    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(api.admin))
            shown = await stack.enter_async_context(replica(client, "one"))
            await until(lambda: not shown.missing and bundles(api) != {""})
            before = bundles(api)
            found = api.request("GET", f"{CONFIGURATIONS}/hooks")
            api.request(
                "PUT",
                f"{CONFIGURATIONS}/hooks",
                {**found, "webhooks": configuration("hooks", "a", "d")["webhooks"]},
            )
            assert bundles(api) == {""}
            await until(lambda: bundles(api) == before)

    asyncio.run(run())


def current(authority: OwnAuthority) -> str:
    return exposition(authority.families())


def test_a_configuration_that_is_not_there_is_told_once(
    api: KubeApi, caplog: pytest.LogCaptureFixture
) -> None:
    """A name may be misspelt, or its configuration may come later."""
    remark = "there is no webhook configuration `late`"
    settings = AuthoritySettings((NAME,), ("late", "hooks"), settle=0.2)

    def told(of: str) -> int:
        return sum(getattr(one, "celadon_fields", {}).get(of) == remark for one in caplog.records)

    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(api.admin))
            shown = SecretCertificate(client, "default", "tls")
            authority = await stack.enter_async_context(keeping(client, shown, settings))
            await until(lambda: 'configuration="hooks"} 1' in figures(authority))
            assert list(authority.remarks()) == [remark]
            assert 'configuration="late"} 0' in figures(authority)
            shown.changed.set()
            await asyncio.sleep(0.3)
            assert (told("err"), told("was")) == (1, 0)
            api.create(configuration("late", "a"))
            await until(lambda: 'configuration="late"} 1' in figures(authority))
            assert list(authority.remarks()) == []
            assert (told("err"), told("was")) == (1, 1)
            api.request("DELETE", f"{CONFIGURATIONS}/late")
            await until(lambda: told("err") == 2)
            assert list(authority.remarks()) == [remark]

    with caplog.at_level(logging.INFO, "celadon.apiserver"):
        asyncio.run(run())


def figures(authority: OwnAuthority) -> str:
    return exposition(authority.families())


def test_rights_that_are_missing_are_told_once(
    api: KubeApi, caplog: pytest.LogCaptureFixture
) -> None:
    """An installation may look at its own configuration, and write to that, and to no others."""
    others = InstallationSettings(
        name="mine", namespace="default", from_cluster=True, certificates=Certificates.OWN
    )
    api.create(*access_manifests(others))
    account = api.as_user("system:serviceaccount:default:mine")

    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(account))
            shown = SecretCertificate(client, "default", others.secret)
            authority = await stack.enter_async_context(keeping(client, shown, SETTINGS))
            await until(lambda: begins(authority, "the webhook configuration `hooks` cannot be r"))
            api.create(*READERS)
            await until(lambda: begins(authority, f"the caBundle of `{CONFIGURATIONS}/hooks` ca"))
            (remark,) = authority.remarks()
            for _ in range(3):
                shown.changed.set()
                await asyncio.sleep(0.1)
            told = [getattr(one, "celadon_fields", {}).get("err") for one in caplog.records]
            assert told.count(remark) == 1

    asyncio.run(run())


def begins(authority: OwnAuthority, text: str) -> bool:
    remarks = list(authority.remarks())
    return len(remarks) == 1 and remarks[0].startswith(text)


READERS: list[dict[str, Any]] = [
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "readers"},
        "rules": [
            {
                "apiGroups": ["admissionregistration.k8s.io"],
                "resources": ["*"],
                "verbs": ["get", "list", "watch"],
            }
        ],
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "readers"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "readers",
        },
        "subjects": [
            {"kind": "ServiceAccount", "name": "mine", "namespace": "default"},
        ],
    },
]


def test_the_secret_of_somebody_else_may_name_no_authority(api: KubeApi) -> None:
    now = datetime.datetime.now(datetime.UTC)
    pair = CredentialsFolder(None).server((NAME,), now)
    data = {"tls.crt": pair.certificate, "tls.key": pair.key}
    api.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "tls", "namespace": "default"},
            "type": "kubernetes.io/tls",
            "data": {name: base64.b64encode(one).decode() for name, one in data.items()},
        }
    )

    async def run() -> None:
        settings = AuthoritySettings((NAME,), ("hooks",), is_own=False)
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(api.admin))
            shown = SecretCertificate(client, "default", "tls")
            authority = await stack.enter_async_context(keeping(client, shown, settings))
            await until(lambda: not shown.missing and list(authority.remarks()))
            assert list(authority.remarks()) == ["the secret `default/tls` has no `ca.crt`"]

    asyncio.run(run())


def test_the_secret_of_somebody_else_is_left_alone(api: KubeApi) -> None:
    """As cert-manager's: it is shown, its authority is put into the configurations."""

    async def run() -> None:
        settings = AuthoritySettings((NAME,), ("hooks",), is_own=False)
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(api.admin))
            async with replica(client, "maker") as maker:
                await until(lambda: not maker.missing)
            secret = api.request("GET", SECRET)
            found = api.request("GET", f"{CONFIGURATIONS}/hooks")
            fresh = {**found, "webhooks": configuration("hooks", "a")["webhooks"]}
            api.request("PUT", f"{CONFIGURATIONS}/hooks", fresh)
            shown = await stack.enter_async_context(replica(client, "user", settings))
            await until(lambda: bundles(api) == {secret["data"]["ca.crt"]})
            annotation = {"metadata": {"annotations": {"celadon.dev/renew": "certificate"}}}
            api.request("PATCH", SECRET, annotation)
            await until(lambda: shown.secret() and shown.secret()["metadata"].get("annotations"))  # type: ignore[index]
            await asyncio.sleep(0.1)
            assert api.request("GET", SECRET)["data"] == secret["data"]

    asyncio.run(run())


def test_a_secret_that_cannot_be_used_is_made_anew(api: KubeApi) -> None:
    api.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "tls", "namespace": "default"},
            "data": {"tls.crt": "eA==", "other": "eQ=="},
        }
    )

    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(api.admin))
            shown = await stack.enter_async_context(replica(client, "one"))
            await until(lambda: not shown.missing)
            assert api.request("GET", SECRET)["data"]["other"] == "eQ=="

    asyncio.run(run())


def test_the_rights_of_an_installation_are_enough(api: KubeApi) -> None:
    """Those that manifests give, and no others."""
    settings = InstallationSettings(
        name="hooks", namespace="default", from_cluster=True, certificates=Certificates.OWN
    )
    api.create(*access_manifests(settings))
    account = api.as_user("system:serviceaccount:default:hooks")

    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(account))
            shown = SecretCertificate(client, "default", settings.secret)
            election = LeaderElection(
                ClusterLeases(client), leases_path("default"), settings.secret, "one"
            )
            authority = OwnAuthority(client, shown, SETTINGS, election)
            policies = ClusterPolicies(client, PolicySettings("1.36", "default", 60.0))
            running = [asyncio.create_task(one.run()) for one in (authority, policies)]
            await until(lambda: policies.rulebook() is not None)
            await until(lambda: not shown.missing and bundles(api) != {""})
            assert policies.state().missing == ()
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            assert api.request("GET", f"{leases_path('default')}/{settings.secret}")

    asyncio.run(run())


class Gone:
    """A cluster that nobody reaches, or that refuses."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    async def pages(self, path: str, query: Any) -> AsyncIterator[Any]:
        for failure in [self.failure]:
            raise failure
        yield None

    async def get(self, path: str, *given: Any) -> Any:
        raise self.failure

    create = update = get


def test_what_a_certificate_waits_for() -> None:
    async def run() -> None:
        shown = SecretCertificate(Gone(ClusterUnreachable("gone")), "ns", "tls")  # type: ignore[arg-type]
        assert shown.missing == "the certificate in the secret `ns/tls`"
        assert (shown.is_known, shown.expires(), shown.trusted()) == (False, 0.0, b"")
        assert not shown.reload()
        running = asyncio.create_task(shown.run())
        await until(lambda: shown.missing.endswith(")"))
        assert shown.missing == "the certificate in the secret `ns/tls` (gone)"
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


def test_certificates_that_cannot_be_written_are_told() -> None:
    async def run() -> None:
        client: Any = Gone(ClusterUnreachable("gone"))
        shown = SecretCertificate(client, "default", "tls")
        election = LeaderElection(ClusterLeases(client), leases_path("default"), "tls", "one")
        authority = OwnAuthority(client, shown, AuthoritySettings((NAME,)), election)
        assert list(authority.remarks()) == []
        assert await authority.step() == 2.0
        assert list(authority.remarks()) == ["the certificates cannot be renewed: gone"]

    asyncio.run(run())


FAILURES: list[tuple[Exception, type[Exception] | None]] = [
    (ClusterUnreachable("gone"), LeaseError),
    (ClusterRefusal(403, {"message": "no"}), LeaseRefused),
    (ClusterRefusal(404, {"message": "not there"}), None),
]


@pytest.mark.parametrize(("failure", "error"), FAILURES)
def test_leases_that_cannot_be_read_or_written(
    failure: Exception, error: type[Exception] | None
) -> None:
    leases = ClusterLeases(Gone(failure))  # type: ignore[arg-type]
    if error is None:
        assert asyncio.run(leases.get("/lease")) is None
    else:
        with pytest.raises(error) as caught:
            asyncio.run(leases.get("/lease"))
        assert (type(caught.value), str(caught.value)) == (error, str(failure))
    for write in (leases.create, leases.update):
        with pytest.raises(LeaseError) as caught:
            asyncio.run(write("/lease", {}))
        assert type(caught.value) is (error or LeaseRefused)


def test_what_puts_bundles_right() -> None:
    assert bundle_patch({"metadata": {}}, "QQ==") == []
    right = {"clientConfig": {"caBundle": "QQ=="}}
    found: dict[str, Any] = {"metadata": {"resourceVersion": "7"}, "webhooks": [right]}
    assert bundle_patch(found, "QQ==") == []
    found["webhooks"] = [{}, right, {"clientConfig": {"caBundle": "Qg=="}}]
    assert bundle_patch(found, "QQ==") == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "QQ=="},
        {"op": "add", "path": "/webhooks/2/clientConfig/caBundle", "value": "QQ=="},
    ]


def test_what_is_said_of_certificates(api: KubeApi, caplog: pytest.LogCaptureFixture) -> None:
    """One that cannot be used, and what comes in its place."""
    api.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "tls", "namespace": "default"},
            "data": {"tls.crt": "eA==", "tls.key": "eQ=="},
        }
    )

    def told(text: str) -> list[Any]:
        return [vars(one)["celadon_fields"] for one in caplog.records if one.message == text]

    async def run() -> None:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(client_of(api.admin))
            await stack.enter_async_context(replica(client, "one"))
            await until(lambda: told("the certificate was taken from its secret"))
            put = "the caBundle of a configuration was put right"
            await until(lambda: told(put))
            assert told(put)[0] == {"path": f"{CONFIGURATIONS}/hooks"}

    with caplog.at_level(logging.INFO, "celadon.apiserver"):
        asyncio.run(run())
    assert told("the certificate of a secret cannot be used") == [
        {"secret": "default/tls", "err": "`tls.crt` is no certificate"}
    ]
    assert told("the secret was made anew") == [{"secret": "tls", "err": "`ca.crt` is missing"}]
    assert told("the certificates were renewed")[0] == {"what": "authority"}
    (taken,) = told("the certificate was taken from its secret")
    assert datetime.datetime.fromisoformat(taken["expires"]) > datetime.datetime.now(datetime.UTC)


def test_configurations_that_nobody_may_read_or_write(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        client: Any = Gone(ClusterRefusal(403, {"message": "no"}))
        bundles = TrustedBundles(client, ["hooks"], lambda: None)
        assert list(bundles.remarks()) == []
        assert not bundles.are(b"A")
        assert bundles.trusting(b"A") == {"hooks": False}
        running = asyncio.create_task(bundles.run())
        await until(lambda: list(bundles.remarks()))
        text = "the webhook configuration `hooks` cannot be read: no"
        assert list(bundles.remarks()) == [text]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())
