from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest

from celadon.apiserver.http import StartError
from celadon.cli.cluster_options import (
    ClusterParts,
    add_certificates,
    add_cluster,
    cluster_parts,
    uses_cluster,
)
from tests.apiserver.clientconfig.kubeconfigs import write_kubeconfig


def given(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_cluster(parser.add_argument_group())
    add_certificates(parser.add_argument_group())
    options = parser.parse_args(arguments)
    options.kubernetes_version, options.call_conversion_webhooks = "1.36", False
    return options


def parts(folder: Path, *arguments: str) -> ClusterParts:
    path = write_kubeconfig(folder / "config", {})
    return cluster_parts(given("--kubeconfig", str(path), *arguments), lambda _: None)


def test_files_alone_need_no_cluster() -> None:
    assert not uses_cluster(given("--kubeconfig", "x"))
    for one in (["--from-cluster"], ["--events"], ["--tls-secret=a"], ["--self-signed-secret=a"]):
        assert uses_cluster(given(*one))


WANTED: dict[str, tuple[Sequence[str], tuple[bool, bool, bool, int]]] = {
    "policies": (["--from-cluster"], (True, False, False, 0)),
    "events": (["--events"], (False, False, True, 1)),
    "a secret": (["--tls-secret", "a"], (False, True, False, 1)),
    "everything": (
        ["--from-cluster", "--events", "--self-signed-secret", "ns/a", "--webhook-configuration=b"],
        (True, True, True, 2),
    ),
}


@pytest.mark.parametrize("row", WANTED.values(), ids=WANTED)
def test_what_is_wanted_is_there(
    row: tuple[Sequence[str], tuple[bool, bool, bool, int]], tmp_path: Path
) -> None:
    made = parts(tmp_path, *row[0])
    found = (made.policies, made.certificate, made.denied)
    assert (*(one is not None for one in found), len(made.beside)) == row[1]
    assert len(made.waits_for) == (made.certificate is not None)


@pytest.mark.parametrize(("named", "namespace"), [("tls", "default"), ("infra/tls", "infra")])
def test_a_secret_is_in_a_namespace(named: str, namespace: str, tmp_path: Path) -> None:
    certificate = parts(tmp_path, "--self-signed-secret", named).certificate
    assert certificate is not None
    assert (certificate.namespace, certificate.name) == (namespace, "tls")
    assert certificate.missing == f"the certificate in the secret `{namespace}/tls`"


def test_a_kubeconfig_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="no such file"):
        cluster_parts(given("--kubeconfig", str(tmp_path / "none")), lambda _: None)
    with pytest.raises(StartError, match="no context `other`"):
        parts(tmp_path, "--context", "other")


def test_a_secret_is_somebody_elses_or_ours() -> None:
    with pytest.raises(SystemExit):
        given("--tls-secret", "a", "--self-signed-secret", "b")
