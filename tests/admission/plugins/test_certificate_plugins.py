"""Who may approve, sign and attest, and which subjects nobody may ask for."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import User
from tests.admission.plugins.asking import ALICE, asked, obj, refusal
from tests.admission.plugins.test_certificate_requests import request_of
from tests.admission.plugins.test_owner_permissions import allowing, bound

V1 = "certificates.k8s.io/v1"
ADMIN = User("admin", ("system:masters",))


def signing(signer: str = "example.com/s", **members: Any) -> dict[str, Any]:
    return obj("CertificateSigningRequest", "r", V1, spec={"signerName": signer}, **members)


def _refused(name: str, subresource: str, verb: str, new: Any, old: Any) -> tuple[str, str]:
    """Without the right, and with it for all signers."""
    asking = asked(new, old, subresource=subresource)
    rights = allowing((verb, "certificates.k8s.io", "signers"))
    return refusal(name, asking), refusal(name, asking, rights)


def test_approval() -> None:
    text = (
        '403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: '
        'user not permitted to approve requests with signerName "example.com/s"'
    )
    found = _refused("CertificateApproval", "approval", "approve", signing(), signing())
    assert found == (text, "")
    assert refusal("CertificateApproval", asked(signing(), signing())) == ""


def test_signing() -> None:
    text = (
        '403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: '
        'user not permitted to sign requests with signerName "example.com/s"'
    )
    signed = signing(status={"certificate": "x"})
    assert _refused("CertificateSigning", "status", "sign", signed, signing()) == (text, "")
    assert _refused("CertificateSigning", "status", "sign", signed, signed) == ("", "")
    failed = signing(status={"conditions": [{"type": "Failed"}]})
    assert _refused("CertificateSigning", "status", "sign", failed, signing()) == (text, "")
    emptied = signing(status={"conditions": [], "certificate": ""})
    assert _refused("CertificateSigning", "status", "sign", emptied, signing()) == ("", "")


def test_attesting() -> None:
    bundle = obj("ClusterTrustBundle", "b", "certificates.k8s.io/v1beta1")
    named = {**bundle, "spec": {"signerName": "example.com/s"}}
    text = (
        '403 clustertrustbundles.certificates.k8s.io "b" is forbidden: '
        'user not permitted to attest for signerName "example.com/s"'
    )
    assert _refused("ClusterTrustBundleAttest", "", "attest", named, None) == (text, "")
    assert _refused("ClusterTrustBundleAttest", "", "attest", bundle, None) == ("", "")
    finalized = {**named, "metadata": {"name": "b", "finalizers": ["f"]}}
    assert _refused("ClusterTrustBundleAttest", "", "attest", finalized, named) == ("", "")


@pytest.mark.parametrize(
    ("signer", "organization", "text"),
    [
        ("kubernetes.io/kube-apiserver-client", "devs", ""),
        ("example.com/s", "system:masters", ""),
        (
            "kubernetes.io/kube-apiserver-client",
            "system:masters",
            "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not "
            "allowed",
        ),
    ],
)
def test_subjects(signer: str, organization: str, text: str) -> None:
    value = signing(signer)
    value["spec"]["request"] = request_of("someone", organization)
    before = '403 certificatesigningrequests.certificates.k8s.io "r" is forbidden: '
    found = refusal("CertificateSubjectRestriction", asked(value, user=ALICE))
    assert found == (before + text if text else "")


def test_unreadable_subjects() -> None:
    value = signing("kubernetes.io/kube-apiserver-client")
    value["spec"]["request"] = "eA=="
    found = refusal("CertificateSubjectRestriction", asked(value, user=ADMIN))
    assert found.endswith("failed to parse CSR: PEM block type must be CERTIFICATE REQUEST")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], "403 "),
        (["example.com/s"], ""),
        (["example.com/*"], ""),
        (["example.com/t", "example.net/*", "example.com"], "403 "),
    ],
)
def test_signers_are_allowed_by_name_or_by_domain(names: list[str], text: str) -> None:
    role = obj("ClusterRole", "r", "rbac.authorization.k8s.io/v1")
    signers = {"apiGroups": ["certificates.k8s.io"], "resources": ["signers"]}
    role["rules"] = [{**signers, "verbs": ["approve"], "resourceNames": [one]} for one in names]
    asking = asked(signing(), signing(), subresource="approval")
    found = refusal("CertificateApproval", asking, bound(role))
    assert found[:4] == text
