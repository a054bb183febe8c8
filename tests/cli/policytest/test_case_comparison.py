"""What the server's own plugins refuse is admitted by no test."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.testing.policy_cases import PolicyCases

POLICY: Any = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "named"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["", "apps"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["pods", "deployments"],
                }
            ]
        },
        "validations": [{"expression": "object.metadata.name != 'x'"}],
    },
}
BINDING: Any = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "named"},
    "spec": {"policyName": "named", "validationActions": ["Deny"]},
}
LABELS = {"pod-security.kubernetes.io/enforce": "baseline"}


def pod(**spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "securityContext": {"privileged": True}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"containers": [container], **spec},
    }


QUOTA: Any = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": "shop"},
    "spec": {"hard": {"pods": "0"}},
}
LIMITS: Any = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "small", "namespace": "shop"},
    "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "default": {"cpu": "1"}}]},
}
LARGE: Any = {
    "containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "2"}}}],
}


@pytest.mark.parametrize(
    ("plugin", "around", "spec"),
    [
        ("PodSecurity", {"namespaces": {"shop": LABELS}}, {}),
        ("ResourceQuota", {"resources": [QUOTA]}, {}),
        ("LimitRanger", {"resources": [LIMITS]}, LARGE),
    ],
)
def test_that_a_plugin_denies(plugin: str, around: Any, spec: Any) -> None:
    asked = PolicyCases(POLICY, BINDING, **around)
    asked.expect("invalid", object=pod(**spec))
    (result,) = asked.run("admit", object=pod(**spec))
    assert [one.actual for one in result.mismatches] == [f"invalid, denied by the plugin {plugin}"]
    left_out = PolicyCases(POLICY, BINDING, admission_plugins={"disable": [plugin]}, **around)
    left_out.expect("admit", object=pod(**spec))
    asked.expect("invalid", object=pod(**spec))  # the quota was not used up by the first


def test_of_a_generated_pod() -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]},
        },
    }
    asked = PolicyCases(POLICY, BINDING, namespaces={"shop": LABELS})
    asked.expect("admit", object=deployment)
    asked.expect("invalid", object=deployment, generated="Pod")


def test_of_a_generated_claim() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    stateful_set = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "serviceName": "web",
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]},
            "volumeClaimTemplates": [claim],
        },
    }
    limit = {"type": "PersistentVolumeClaim", "max": {"storage": "1Mi"}}
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "small", "namespace": "shop"},
        "spec": {"limits": [limit]},
    }
    asked = PolicyCases(POLICY, BINDING, limits, namespaces={"shop": {}})
    asked.expect("noMatch", object=stateful_set)
    asked.expect("invalid", object=stateful_set, generated="PersistentVolumeClaim")


def test_whom_nobody_could_ask() -> None:
    (result,) = PolicyCases(POLICY, BINDING).run("admit", object=pod())
    assert ("PodSecurity", "namespace `shop` is not given") in result.unasked


def test_a_plugin_that_no_server_has() -> None:
    with pytest.raises(Exception, match='plugin "PodSecurty" is unknown'):
        PolicyCases(POLICY, BINDING, admission_plugins={"disable": ["PodSecurty"]}).run(
            "admit", object=pod()
        )
