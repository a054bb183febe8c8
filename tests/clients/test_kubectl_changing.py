"""kubectl patch, label, annotate, edit, scale, set, delete, wait: changing what is there."""

from __future__ import annotations

import pytest

from celadon.testing import KubeApi
from tests.clients.manifests import DEPLOYMENT, POD, SETTINGS
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough


@pytest.fixture
def web(kubectl: Client) -> Client:
    """With a deployment."""
    kubectl("create", "-f", kubectl.write("web.yaml", DEPLOYMENT))
    return kubectl


def replicas(kubectl: Client) -> str:
    return kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}")


def test_patches_of_three_types(web: Client) -> None:
    patch = ("patch", "deployment", "web", "-p")
    sidecar = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"s"}]}}}}'
    assert web(*patch, sidecar) == "deployment.apps/web patched\n"
    names = "jsonpath={.spec.template.spec.containers[*].name}"
    assert web("get", "deployment", "web", "-o", names) == "side nginx"
    web(*patch, sidecar, "--type=merge")
    assert web("get", "deployment", "web", "-o", names) == "side"
    web(*patch, '[{"op":"replace","path":"/spec/replicas","value":5}]', "--type=json")
    assert replicas(web) == "5"
    assert web(*patch, '{"spec":{"replicas":5}}') == "deployment.apps/web patched (no change)\n"
    assert web.fails(*patch, '[{"op":"remove","path":"/spec/nothing"}]', "--type=json") == (
        "The request is invalid: the server rejected our request due to an error in our request\n"
    )


def test_patches_of_subresources(web: Client) -> None:
    status = '{"status":{"replicas":2,"readyReplicas":2,"updatedReplicas":2,"availableReplicas":2}}'
    web("patch", "deployment", "web", "--subresource=status", "--type=merge", "-p", status)
    assert web("get", "deployment", "web", "--no-headers").split()[:4] == ["web", "2/2", "2", "2"]
    web(
        "patch",
        "deployment",
        "web",
        "--subresource=scale",
        "--type=merge",
        "-p",
        '{"spec":{"replicas":4}}',
    )
    assert replicas(web) == "4"


def test_labels_and_annotations(web: Client) -> None:
    assert web("label", "deployment", "web", "tier=front") == "deployment.apps/web labeled\n"
    assert web.fails("label", "deployment", "web", "tier=back") == (
        "error: 'tier' already has a value (front), and --overwrite is false\n"
    )
    web("label", "deployment", "web", "tier=back", "--overwrite")
    assert web("label", "deployment", "web", "tier-") == "deployment.apps/web unlabeled\n"
    web("annotate", "deployment", "--all", "note=well")
    meta = web.json("get", "deployment", "web")["metadata"]
    assert (meta["labels"], meta["annotations"]["note"]) == ({"app": "web"}, "well")


def test_scale(web: Client) -> None:
    assert web("scale", "deployment", "web", "--replicas=7") == "deployment.apps/web scaled\n"
    assert replicas(web) == "7"
    assert web.fails("scale", "deployment", "web", "--current-replicas=3", "--replicas=1") == (
        "error: Expected replicas to be 3, was 7\n"
    )


def test_edit_with_a_scripted_editor(web: Client) -> None:
    def edit(change: str) -> dict[str, str]:
        script = web.folder / "editor"
        script.write_text(f"#!/bin/sh\nsed -i '{change}' \"$1\"\n")
        script.chmod(0o755)
        return {"KUBE_EDITOR": str(script)}

    command = ("edit", "deployment", "web")
    assert web(*command, **edit("s/replicas: 2/replicas: 6/")) == "deployment.apps/web edited\n"
    assert replicas(web) == "6"
    done = web.run(*command, **edit(""))
    assert (done.code, done.err + done.out) == (0, "Edit cancelled, no changes made.\n")
    refused = web.fails(*command, **edit("s/replicas: 6/replicas: -6/"))
    assert refused.startswith('error: deployments.apps "web" is invalid\n')
    assert replicas(web) == "6"


def test_set(web: Client) -> None:
    assert web("set", "image", "deployment/web", "nginx=nginx:9") == (
        "deployment.apps/web image updated\n"
    )
    web("set", "env", "deployment/web", "MODE=fast")
    web("set", "resources", "deployment/web", "--limits=cpu=1")
    web("set", "serviceaccount", "deployment/web", "default")
    spec = web.json("get", "deployment", "web")["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["image"] == "nginx:9"
    assert container["env"] == [{"name": "MODE", "value": "fast"}]
    assert container["resources"] == {"limits": {"cpu": "1"}}
    assert spec["serviceAccountName"] == "default"


def test_delete(kubectl: Client) -> None:
    def config_maps() -> None:
        for name in ("a", "b", "c"):
            kubectl(
                "create",
                "-f",
                "-",
                given=SETTINGS.replace("settings", f"{name}, labels: {{app: x}}"),
            )

    config_maps()
    assert kubectl("delete", "configmap", "a", "-o", "name") == "configmap/a\n"
    assert kubectl.fails("delete", "configmap", "a") == (
        'Error from server (NotFound): configmaps "a" not found\n'
    )
    assert kubectl("delete", "configmap", "a", "--ignore-not-found") == ""
    deleted = kubectl("delete", "configmaps", "-l", "app=x").splitlines()
    assert [line.split(" from ")[0] for line in deleted] == [
        'configmap "b" deleted',
        'configmap "c" deleted',
    ]


def test_the_service_of_the_server_comes_back(kubectl: Client, api: KubeApi) -> None:
    kubectl("delete", "service", "kubernetes", "-n", "default")
    api.settle()
    assert kubectl("get", "service", "-n", "default", "-o", "name") == "service/kubernetes\n"


def test_finalizers_hold_what_is_deleted(kubectl: Client) -> None:
    held = SETTINGS.replace("settings}", "settings, finalizers: [example.com/held]}")
    kubectl("create", "-f", "-", given=held)
    kubectl("delete", "configmap", "settings", "--wait=false")
    assert kubectl.json("get", "configmap", "settings")["metadata"]["deletionTimestamp"]
    kubectl(
        "patch", "configmap", "settings", "--type=merge", "-p", '{"metadata":{"finalizers":[]}}'
    )
    assert kubectl("wait", "--for=delete", "configmap/settings", "--timeout=300s") in (
        "", "configmap/settings condition met\n",
    )  # fmt: skip


def test_wait(kubectl: Client) -> None:
    kubectl("create", "-f", "-", given=POD)
    assert kubectl.fails("wait", "--for=condition=Ready", "pod/one", "--timeout=100ms") == (
        "error: timed out waiting for the condition on pods/one\n"
    )
    ready = '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
    kubectl("patch", "pod", "one", "--subresource=status", "-p", ready)
    assert kubectl("wait", "--for=condition=Ready", "pod/one") == "pod/one condition met\n"
    assert kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/one") == (
        "pod/one condition met\n"
    )


def test_a_namespace_takes_its_content_along(kubectl: Client) -> None:
    space = f"{kubectl.arguments[1]}-b"
    kubectl("create", "namespace", space)
    kubectl("create", "-n", space, "-f", "-", given=SETTINGS)
    deleted = kubectl.run("delete", "namespace", space).out
    assert deleted.startswith(f'namespace "{space}" deleted')
    assert kubectl.fails("get", "namespace", space).endswith(f'namespaces "{space}" not found\n')
    assert "NotFound" in kubectl.fails("create", "-n", space, "-f", "-", given=SETTINGS)


def test_dependents_go_with_their_owner(web: Client) -> None:
    owner = web.json("get", "deployment", "web")["metadata"]["uid"]
    reference = (
        f"ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: web, uid: {owner}}}]"
    )
    web("create", "-f", "-", given=SETTINGS.replace("settings}", f"settings, {reference}}}"))
    web("delete", "deployment", "web", "--cascade=foreground")
    assert web("get", "configmap", "settings", "--ignore-not-found") == ""
