"""Small policies and objects for the tests of the commands."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.main import main

Json = dict[str, Any]
Celadon = Callable[..., tuple[int, str, str]]


def policy(name: str = "limit", expression: str = "object.data.x == 'ok'", **spec: Any) -> Json:
    """A policy about ConfigMaps."""
    rules = [
        {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE", "DELETE"],
            "resources": ["configmaps"],
        }
    ]
    constraints = {"resourceRules": spec.pop("rules", rules)}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": constraints,
            "validations": [{"expression": expression}],
            **spec,
        },
    }


def binding(name: str = "limit", policy_name: str = "", actions: str = "Deny", **spec: Any) -> Json:
    """Its binding."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": policy_name or name,
            "validationActions": actions.split(),
            **spec,
        },
    }


def config_map(name: str = "cm", namespace: str = "default", **data: str) -> Json:
    """Something to admit."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def write(path: Path, *documents: Json) -> str:
    """The documents as a file; its path."""
    path.write_text("\n".join(json.dumps(document, indent=1) for document in documents))
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error of a command."""
    code = main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@contextlib.contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file can be written beyond `size` bytes: what is longer ends as on a full disk."""
    resource = pytest.importorskip("resource", reason="no such limits here")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
