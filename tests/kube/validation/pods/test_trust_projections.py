"""What is said against files that come from the API of certificates, and against stop signals:
both need a feature gate."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.name_rules import dns1123_subdomain
from celadon.kube.validation.pods.containers import Surroundings, lifecycle_and_probes
from celadon.kube.validation.pods.volumes import volumes

Json = dict[str, Any]


def found(*sources: Json) -> list[str]:
    volume = {"name": "v", "projected": {"sources": list(sources)}}
    _, errors = volumes(FieldPath("spec"), {"volumes": [volume]}, "p", in_pod=True)
    return [str(one).removeprefix("spec.volumes[0].projected") for one in errors]


def bundle(**fields: Any) -> Json:
    return {"clusterTrustBundle": {"path": "ca", **fields}}


def own(**fields: Any) -> Json:
    given = {"signerName": "a.b/c", "keyType": "ED25519", "credentialBundlePath": "x", **fields}
    return {"podCertificate": given}


AT = ".sources[0].clusterTrustBundle"
OWN = ".sources[0].podCertificate"


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([bundle(name="a"), own()], []),
        ([bundle(name="a.b:c:d"), own(keyPath="y", maxExpirationSeconds=86400)], []),
        ([bundle(signerName="a.b/c", labelSelector={"matchLabels": {"a": "b"}})], []),
        ([bundle(path="")], [
            f"{AT}: Required value: either name or signerName must be specified",
            f"{AT}.path: Required value",
        ]),
        ([bundle(name="a", signerName="a.b/c")], [
            f'{AT}: Invalid value: {{"Name":"a","SignerName":"a.b/c","LabelSelector":null,'
            '"Optional":null,"Path":"ca"}: only one of name and signerName may be used',
        ]),
        ([bundle(name="", labelSelector={"matchLabels": {"a": "b"}}, path="../x")], [
            f"{AT}.name: Required value: must be a valid object name",
            f'{AT}.name: Invalid value: "": not a valid clustertrustbundlename: '
            f"{dns1123_subdomain('')[0]}",
            f'{AT}.labelSelector: Invalid value: {{"matchLabels":{{"a":"b"}}}}: labelSelector must '
            "be unset if name is specified",
            f"{AT}.path: Invalid value: \"../x\": must not contain '..'",
        ]),
        ([bundle(signerName="")], [
            f"{AT}.signerName: Required value: must be a valid signer name",
            f"{AT}.signerName: Required value",
        ]),
        ([bundle(name="a"), bundle(name="b")], [
            ': Invalid value: "ca": conflicting duplicate paths',
        ]),
        ([own(keyType="X", maxExpirationSeconds=1, credentialBundlePath="")], [
            f'{OWN}.keyType: Unsupported value: "X": supported values: "RSA3072", "RSA4096", '
            '"ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
            f"{OWN}.maxExpirationSeconds: Invalid value: 1: if provided, maxExpirationSeconds must "
            "be >= 3600",
            f"{OWN}: Required value: specify at least one of credentialBundlePath, keyPath, and "
            "certificateChainPath",
        ]),
        ([own(signerName="kubernetes.io/a", maxExpirationSeconds=86401, keyPath="x",
              userAnnotations={"a": "b"})], [
            f'{OWN}.userAnnotations: Invalid value: "a": must be a domain-prefixed key (such as '
            '"acme.io/foo")',
            f"{OWN}.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds "
            "must be <= 86400",
            ': Invalid value: "x": conflicting duplicate paths',
        ]),
    ],
)  # fmt: skip
def test_projections(sources: list[Json], expected: list[str]) -> None:
    assert found(*sources) == expected


@pytest.mark.parametrize(
    ("os", "signal", "expected"),
    [
        ({"name": "linux"}, "SIGRTMAX-14", ""),
        ({"name": "windows"}, "SIGTERM", ""),
        ({"name": "other"}, "x", ""),
        (None, "SIGTERM", "Forbidden: may not be set for containers with empty `spec.os.name`"),
        ({"name": "windows"}, "SIGHUP",
         'Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"'),
    ],
)  # fmt: skip
def test_stop_signals(os: Json | None, signal: str, expected: str) -> None:
    around = Surroundings({}, (), 30, "Always", host_users=True, os=os)
    container = {"lifecycle": {"stopSignal": signal}}
    errors = lifecycle_and_probes(FieldPath(), container, around)
    assert [str(one) for one in errors] == (
        [f"lifecycle.stopSignal: {expected}"] if expected else []
    )
