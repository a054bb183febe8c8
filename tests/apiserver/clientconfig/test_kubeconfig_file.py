from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.clientconfig import (
    ExecCommand,
    KubeconfigCluster,
    KubeconfigError,
    KubeconfigUser,
    read_kubeconfigs,
)
from tests.apiserver.clientconfig.kubeconfigs import write_kubeconfig

USERS: dict[str, tuple[dict[str, Any], KubeconfigUser]] = {
    "nobody": ({}, KubeconfigUser()),
    "a token": ({"token": "t"}, KubeconfigUser(token="t")),
    "inline before files": (
        {"client-certificate-data": "Yw==", "client-certificate": "nowhere", "client-key": "k"},
        KubeconfigUser(certificate=b"c", key=b"file"),
    ),
    "a password": (
        {"username": "u", "password": "p"},
        KubeconfigUser(username="u", password="p"),
    ),
    "impersonation": (
        {"as": "a", "as-uid": "1", "as-groups": ["g", "h"], "as-user-extra": {"k": ["v", "w"]}},
        KubeconfigUser(
            impersonation=(
                ("Impersonate-User", "a"),
                ("Impersonate-Uid", "1"),
                ("Impersonate-Group", "g"),
                ("Impersonate-Group", "h"),
                ("Impersonate-Extra-k", "v"),
                ("Impersonate-Extra-k", "w"),
            )
        ),
    ),
    "a provider": ({"auth-provider": {"name": "gcp"}}, KubeconfigUser(auth_provider="gcp")),
}


@pytest.mark.parametrize("row", USERS.values(), ids=USERS)
def test_users(row: tuple[dict[str, Any], KubeconfigUser], tmp_path: Path) -> None:
    (tmp_path / "k").write_bytes(b"file")
    given, expected = row
    path = write_kubeconfig(tmp_path / "config", given)
    assert read_kubeconfigs([path]).users["here"] == expected


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "ca").write_bytes(b"authority")
    user = {
        "tokenFile": "token",
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": "./login",
            "args": ["--now"],
            "env": [{"name": "A", "value": "b"}],
        },
    }
    path = write_kubeconfig(tmp_path / "config", user, **{"certificate-authority": "ca"})
    found = read_kubeconfigs([path])
    assert found.clusters["here"] == KubeconfigCluster("https://127.0.0.1:1", b"authority")
    assert found.users["here"].token_file == tmp_path / "token"
    assert found.users["here"].exec_command == ExecCommand(
        "client.authentication.k8s.io/v1beta1",
        "./login",
        ("--now",),
        {"A": "b"},
        folder=tmp_path,
    )


def test_of_several_files_the_first_counts(tmp_path: Path) -> None:
    first = write_kubeconfig(tmp_path / "first", {"token": "first"})
    second = tmp_path / "second"
    second.write_text(
        "users:\n- {name: here, user: {token: second}}\n- {name: there, user: {token: other}}\n"
        "current-context: there\n"
    )
    found = read_kubeconfigs([first, second])
    assert {name: user.token for name, user in found.users.items()} == {
        "here": "first",
        "there": "other",
    }
    assert found.current_context == "here"


WRONG = {
    "a list": ("[]", "not a kubeconfig"),
    "no YAML": ("a: [", "did not find expected node content"),
    "a cluster that is none": ("clusters: [{name: a, cluster: 5}]", "not a kubeconfig"),
    "a token that is none": (
        "users: [{name: a, user: {token: 5}}]",
        "not a kubeconfig: `users[0].user.token` must be text, not the number 5",
    ),
    "groups that are none": (
        "users: [{name: a, user: {as: b, as-groups: [1]}}]",
        "`users[0].user.as-groups[0]` must be text, not the number 1",
    ),
    "more about a user that is no text": (
        "users: [{name: a, user: {as: b, as-user-extra: {x: [null]}}}]",
        "`users[0].user.as-user-extra.x[0]` must be text, not absent",
    ),
    "a certificate that is not ASCII": (
        "users: [{name: a, user: {client-certificate-data: \u202e}}]",
        "`client-certificate-data` is not base64",
    ),
    "a file that no file can be called": (
        'clusters: [{name: a, cluster: {certificate-authority: "\\0"}}]',
        "`certificate-authority`: `\0`: embedded null byte",
    ),
    "no base64": (
        "users: [{name: a, user: {client-key-data: '?'}}]",
        "`client-key-data` is not base64",
    ),
    "a missing file": (
        "clusters: [{name: a, cluster: {certificate-authority: nowhere}}]",
        "`certificate-authority`: `nowhere`: no such file or directory",
    ),
    "an old plugin": (
        "users: [{name: a, user: {exec: {apiVersion: v0, command: x}}}]",
        "exec plugins of `v0` are not supported",
    ),
}


@pytest.mark.parametrize("row", WRONG.values(), ids=WRONG)
def test_what_cannot_be_used(row: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(row[0])
    with pytest.raises(KubeconfigError) as caught:
        read_kubeconfigs([path])
    assert str(caught.value).startswith(f"`{path}`: ")
    assert row[1] in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="no such file"):
        read_kubeconfigs([tmp_path / "nowhere"])
