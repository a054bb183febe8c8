"""Replicas with an authority of their own: what they show is trusted by what configurations say."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from celadon.serve.leading import LeaderElection, leases_path
from celadon.testing import KubeApi
from celadon.webhook.certificates.cluster_leases import ClusterLeases
from celadon.webhook.certificates.own_authority import AuthoritySettings, OwnAuthority
from celadon.webhook.certificates.secret_certificate import SecretCertificate
from celadon.webhook.cluster.cluster_client import ClusterClient
from celadon.webhook.cluster.cluster_policies import ClusterPolicies, PolicySettings
from celadon.webhook.installation.access_manifests import access_manifests
from celadon.webhook.installation.installation_settings import Certificates, InstallationSettings
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
    election = LeaderElection(ClusterLeases(client), leases_path("default"), "tls", identity)
    running = asyncio.create_task(OwnAuthority(client, shown, settings, election).run())
    try:
        yield shown
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


def test_the_secret_of_somebody_else_is_left_alone(api: KubeApi) -> None:
    """As cert-manager's: it is shown, its authority is put into the configurations."""

    async def run() -> None:
        settings = AuthoritySettings((NAME,), ("hooks",), own=False)
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
