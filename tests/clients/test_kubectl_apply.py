"""kubectl apply, diff, create, replace: from files to objects."""

from __future__ import annotations

import pytest

from tests.clients.manifests import DEFINITION, DEPLOYMENT, SETTINGS
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough


def test_apply_creates_configures_and_leaves_alone(kubectl: Client) -> None:
    kubectl.write("web.yaml", DEPLOYMENT)
    assert kubectl("apply", "-f", "web.yaml") == "deployment.apps/web created\n"
    assert kubectl("apply", "-f", "web.yaml") == "deployment.apps/web unchanged\n"
    changed = DEPLOYMENT.replace("  replicas: 2\n", "").replace("nginx:1", "nginx:2")
    kubectl.write("web.yaml", changed)
    assert kubectl("apply", "-f", "web.yaml") == "deployment.apps/web configured\n"
    spec = kubectl.json("get", "deployment", "web")["spec"]
    assert spec["template"]["spec"]["containers"][0]["image"] == "nginx:2"
    assert spec["replicas"] == 1, "what was applied and is applied no more has its default"


def test_diff_shows_what_apply_would_do(kubectl: Client) -> None:
    kubectl("apply", "-f", kubectl.write("web.yaml", DEPLOYMENT))
    assert kubectl("diff", "-f", "web.yaml") == ""
    kubectl.write("web.yaml", DEPLOYMENT.replace("nginx:1", "nginx:2"))
    for more in ((), ("--server-side", "--force-conflicts")):
        done = kubectl.run("diff", "-f", "web.yaml", *more)
        assert done.code == 1
        lines = done.out.splitlines()
        assert "-      - image: nginx:1" in lines
        assert "+      - image: nginx:2" in lines
    assert kubectl.json("get", "deployment", "web")["metadata"]["generation"] == 1


def test_server_side_apply_and_its_conflicts(kubectl: Client) -> None:
    kubectl.write("s.yaml", SETTINGS)
    applied = ("apply", "--server-side", "-f", "s.yaml")
    assert kubectl(*applied) == "configmap/settings serverside-applied\n"
    kubectl.write("s.yaml", SETTINGS.replace("green", "red"))
    assert kubectl.fails(*applied, "--field-manager=other") == (
        'error: Apply failed with 1 conflict: conflict with "kubectl": .data.color\n'
        "Please review the fields above--they currently have other managers. Here\n"
        "are the ways you can resolve this warning:\n"
        "* If you intend to manage all of these fields, please re-run the apply\n"
        "  command with the `--force-conflicts` flag.\n"
        "* If you do not intend to manage all of the fields, please edit your\n"
        "  manifest to remove references to the fields that should keep their\n"
        "  current managers.\n"
        "* You may co-own fields by updating your manifest to match the existing\n"
        "  value; in this case, you'll become the manager if the other manager(s)\n"
        "  stop managing the field (remove it from their configuration).\n"
        "See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts\n"
    )
    kubectl(*applied, "--field-manager=other", "--force-conflicts")
    found = kubectl.json("get", "configmap", "settings", "--show-managed-fields")
    owners = {
        one["manager"]: sorted(one["fieldsV1"]["f:data"])
        for one in found["metadata"]["managedFields"]
    }
    assert owners == {"kubectl": ["f:size"], "other": ["f:color", "f:size"]}


def test_server_side_apply_takes_over_from_client_side(kubectl: Client) -> None:
    kubectl("apply", "-f", kubectl.write("s.yaml", SETTINGS))
    kubectl.write("s.yaml", SETTINGS.replace(", size: large", ""))
    kubectl("apply", "--server-side", "-f", "s.yaml")
    assert kubectl.json("get", "configmap", "settings")["data"] == {"color": "green"}


def test_apply_with_prune(kubectl: Client) -> None:
    labelled = SETTINGS.replace("{name: settings}", "{name: NAME, labels: {part: a}}")
    both = "---\n".join(labelled.replace("NAME", name) for name in ("first", "second"))
    kubectl("apply", "-f", kubectl.write("s.yaml", both))
    kubectl.write("s.yaml", labelled.replace("NAME", "first"))
    pruned = kubectl(
        "apply", "-f", "s.yaml", "--prune", "-l", "part=a", "--prune-allowlist=core/v1/ConfigMap"
    )
    assert pruned == "configmap/first unchanged\nconfigmap/second pruned\n"


def test_create_and_replace(kubectl: Client) -> None:
    kubectl.write("s.yaml", SETTINGS)
    assert kubectl("create", "-f", "s.yaml") == "configmap/settings created\n"
    assert kubectl.fails("create", "-f", "s.yaml") == (
        'Error from server (AlreadyExists): error when creating "s.yaml": '
        'configmaps "settings" already exists\n'
    )
    kubectl.write("s.yaml", SETTINGS.replace("green", "red"))
    assert kubectl("replace", "-f", "s.yaml") == "configmap/settings replaced\n"
    assert kubectl.json("get", "configmap", "settings")["data"]["color"] == "red"
    assert kubectl(
        "create", "-f", "-", "--dry-run=server", given=SETTINGS.replace("settings", "b")
    ) == ("configmap/b created (server dry run)\n")
    assert kubectl.fails("get", "configmap", "b") == (
        'Error from server (NotFound): configmaps "b" not found\n'
    )


def test_replace_by_force_makes_another_object(kubectl: Client) -> None:
    kubectl("create", "-f", kubectl.write("s.yaml", SETTINGS))
    first = kubectl.json("get", "configmap", "settings")["metadata"]["uid"]
    deleted, replaced = kubectl("replace", "--force", "-f", "s.yaml").splitlines()
    assert deleted.startswith('configmap "settings" deleted')
    assert replaced == "configmap/settings replaced"
    assert kubectl.json("get", "configmap", "settings")["metadata"]["uid"] != first


def test_last_applied(kubectl: Client) -> None:
    kubectl("create", "-f", kubectl.write("s.yaml", SETTINGS))
    assert kubectl("apply", "view-last-applied", "configmap/settings") == ""
    set_last = ("apply", "set-last-applied", "-f", "s.yaml", "--create-annotation")
    assert kubectl(*set_last) == "configmap/settings configured\n"
    assert "  color: green\n" in kubectl("apply", "view-last-applied", "configmap/settings")


def test_apply_set_prunes_what_left_it(kubectl: Client) -> None:
    both = "---\n".join(SETTINGS.replace("settings", name) for name in ("first", "second"))
    prune = ("apply", "-f", "s.yaml", "--prune", "--applyset=configmaps/all")
    alpha = {"KUBECTL_APPLYSET": "true"}
    kubectl.write("s.yaml", both)
    assert kubectl.run(*prune, **alpha).out == "configmap/first created\nconfigmap/second created\n"
    kubectl.write("s.yaml", SETTINGS.replace("settings", "first"))
    assert (
        kubectl.run(*prune, **alpha).out == "configmap/first unchanged\nconfigmap/second pruned\n"
    )
    names = "jsonpath={.items[*].metadata.name}"
    assert kubectl("get", "configmaps", "-o", names) == "all first"


def test_unknown_fields_are_refused_or_warned_of(kubectl: Client) -> None:
    kubectl.write("s.yaml", SETTINGS + "dato: {}\n")
    assert kubectl.fails("create", "-f", "s.yaml").endswith(
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        'unknown field "dato"\n'
    )
    done = kubectl.run("create", "-f", "s.yaml", "--validate=warn")
    assert (done.code, done.err) == (0, 'Warning: unknown field "dato"\n')
    invalid = DEPLOYMENT.replace("replicas: 2", "replicas: -1")
    assert kubectl.fails("apply", "-f", kubectl.write("web.yaml", invalid)) == (
        'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than '
        "or equal to 0\n"
    )


def test_generators(kubectl: Client) -> None:
    for line in (
        "deployment a --image=b --replicas=2",
        "job b --image=b",
        "cronjob c --image=b --schedule=@daily",
        "secret docker-registry r --docker-server=s --docker-username=u --docker-password=p",
        "rolebinding g --role=f --user=bob",
        "quota h --hard=pods=3",
        "ingress j --rule=a.com/x=svc:80",
        "service nodeport m --tcp=80",
    ):
        assert kubectl("create", *line.split()).endswith(" created\n"), line
    assert kubectl("create", "job", "--from=cronjob/c", "again") == "job.batch/again created\n"
    (owner,) = kubectl.json("get", "job", "again")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("CronJob", "c")


def test_custom_resources(kubectl: Client) -> None:
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n"
    kubectl("create", "-f", kubectl.write("d.yaml", DEFINITION))
    try:
        wait = ("wait", "--for=condition=Established", "crd/widgets.example.com")
        assert kubectl(*wait) == (
            "customresourcedefinition.apiextensions.k8s.io/widgets.example.com condition met\n"
        )
        assert kubectl("apply", "-f", kubectl.write("w.yaml", widget)) == (
            "widget.example.com/w created\n"
        )
        assert kubectl("get", "wd").splitlines() == ["NAME   SIZE", "w      3"]
        assert "How large it is." in kubectl("explain", "widget.spec.size")
        refused = kubectl.fails("apply", "-f", "-", given=widget.replace("size: 3", "colour: red"))
        assert 'unknown field "spec.colour"' in refused
        refused = kubectl.fails(
            "patch", "widget", "w", "--type=merge", "-p", '{"spec":{"size":"x"}}'
        )
        assert refused == (
            'The Widget "w" is invalid: spec.size: Invalid value: "string": spec.size in body '
            'must be of type integer: "string"\n'
        )
    finally:
        kubectl.run("delete", "-f", "d.yaml")
    assert "the server could not find the requested resource" in kubectl.fails("get", "widgets")


def test_kustomize(kubectl: Client) -> None:
    kubectl.write("settings.yaml", SETTINGS)
    kubectl.write("kustomization.yaml", "resources: [settings.yaml]\nnamePrefix: my-\n")
    assert kubectl("apply", "-k", ".") == "configmap/my-settings created\n"
    assert kubectl("diff", "-k", ".") == ""
    assert kubectl("delete", "-k", ".").startswith('configmap "my-settings" deleted')
