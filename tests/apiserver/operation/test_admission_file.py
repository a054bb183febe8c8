"""What plugins are told in files, and a server that goes by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.plugins.admission_configuration import BadConfiguration
from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.runtime_config import read_admission_file
from celadon.kube.resources import enabled_plugins
from tests.apiserver.asking import ask, make, said
from tests.apiserver.in_process import Running

ADMISSION = """\
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    defaults: {enforce: baseline}
    exemptions: {namespaces: [kube-system]}
- name: ResourceQuota
  path: below/quotas.yaml
- name: EventRateLimit
  configuration:
    apiVersion: eventratelimit.admission.k8s.io/v1alpha1
    kind: Configuration
    limits: [{type: Namespace, qps: 1, burst: 2}]
"""
QUOTAS = """\
apiVersion: apiserver.config.k8s.io/v1
kind: ResourceQuotaConfiguration
limitedResources: [{resource: secrets, matchContains: [secrets]}]
"""


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Running]:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "quotas.yaml").write_text(QUOTAS)
    (tmp_path / "admission.yaml").write_text(ADMISSION)
    settings = read_admission_file(tmp_path / "admission.yaml")
    plugins = enabled_plugins(["EventRateLimit"], configured=settings.configured)
    running = Running(Settings(plugins=plugins, plugin_settings=settings))
    yield running
    running.close()


def pod(**spec: Any) -> Any:
    containers = [{"name": "c", "image": "i"}]
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": containers, "automountServiceAccountToken": False, **spec},
    }


def test_a_server_goes_by_it(told: Running) -> None:
    told.settle()
    wild = pod(hostPID=True)
    assert "violates PodSecurity" in refusal(told, "default", "pods", wild)
    assert not refusal(told, "kube-system", "pods", wild)
    secret = {"metadata": {"name": "s"}}
    wanted = 'secrets "s" is forbidden: insufficient quota to consume: count/secrets,secrets'
    assert refusal(told, "default", "secrets", secret) == wanted
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"secrets": "5", "count/secrets": "5"}}}
    make(told, "/api/v1/namespaces/default/resourcequotas", quota)
    told.settle()
    assert not refusal(told, "default", "secrets", secret)


def test_events_are_counted(told: Running) -> None:
    event = {"metadata": {"generateName": "e-"}, "involvedObject": {"namespace": "default"}}
    assert not refusal(told, "default", "events", event)
    assert not refusal(told, "default", "events", event)
    why = "Too many requests: limit reached on type Namespace for key default"
    assert refusal(told, "default", "events", event) == why


def refusal(running: Running, namespace: str, plural: str, body: Any) -> str:
    return said(ask(running, "POST", f"/api/v1/namespaces/{namespace}/{plural}", body))[1]


def test_a_file_that_is_no_yaml(tmp_path: Path) -> None:
    (tmp_path / "admission.yaml").write_text("a: b: c")
    with pytest.raises(BadConfiguration, match="mapping values are not allowed"):
        read_admission_file(tmp_path / "admission.yaml")
