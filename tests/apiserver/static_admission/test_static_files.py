"""A server that has policies and webhooks from files, asked by its clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.plugins import PluginSettings
from celadon.admission.plugins.plugin_chain import WebhookSettings
from celadon.apiserver.api_settings import Settings
from celadon.apiserver.static_admission import StaticFiles
from celadon.kube.resources import DEFAULT_PLUGINS
from tests.apiserver.asking import ask, make, read, said, warnings
from tests.apiserver.in_process import Running
from tests.apiserver.static_admission.manifests import (
    GATES,
    calling,
    labelling,
    refusing,
    rule,
    write,
)

MAPS = "/api/v1/namespaces/default/configmaps"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
POLICIES = f"{REGISTRATION}/validatingadmissionpolicies"
EVERY_REGISTRATION = rule("*", group="admissionregistration.k8s.io", operations="CREATE")
Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server whose plugins have `tmp_path` below their names."""
    running: list[Running] = []

    def begin(**more: Any) -> Running:
        def folder(name: str) -> str:
            found = tmp_path / name
            return str(found) if found.is_dir() else ""

        told = PluginSettings(
            mutating_policies=folder("mutating"),
            validating_policies=folder("validating"),
            mutating_webhooks=WebhookSettings("", folder("mutating-hooks")),
            validating_webhooks=WebhookSettings("", folder("validating-hooks")),
        )
        running.append(Running(Settings(plugin_settings=told, gates=GATES, **more)))
        return running[-1]

    yield begin
    for one in running:
        one.close()


def config_map(name: str = "m") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def denial(name: str) -> str:
    return f"ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request: no"


def test_policies_judge_before_those_of_the_api_and_beside_them(
    start: Start, tmp_path: Path
) -> None:
    write(tmp_path / "validating", "a.yaml", refusing("z.static.k8s.io", rule("configmaps")))
    running = start()
    assert said(ask(running, "POST", MAPS, config_map())) == (
        422,
        f'configmaps "m" is forbidden: {denial("z.static.k8s.io")}',
    )
    policy, binding = refusing("a", rule("configmaps"))
    make(running, POLICIES, policy)
    make(running, f"{REGISTRATION}/validatingadmissionpolicybindings", binding)
    both = ask(running, "POST", MAPS, config_map())
    assert said(both)[1].endswith(denial("z.static.k8s.io")), "the first is told"
    binding["spec"]["validationActions"] = ["Warn"]
    put = f"{REGISTRATION}/validatingadmissionpolicybindings/a"
    version = read(ask(running, "GET", put))["metadata"]["resourceVersion"]
    binding["metadata"] = {"name": "a", "resourceVersion": version}
    assert ask(running, "PUT", put, binding).code == 200
    both = ask(running, "POST", MAPS, config_map())
    warning = "Validation failed for ValidatingAdmissionPolicy 'a' with binding 'a': no"
    assert (both.code, warnings(both)) == (422, [warning])
    assert [one["metadata"]["name"] for one in read(ask(running, "GET", POLICIES))["items"]] == [
        "a"
    ], "static ones are no objects"


def test_policies_protect_policies(start: Start, tmp_path: Path) -> None:
    write(tmp_path / "validating", "a.yaml", refusing("a.static.k8s.io", EVERY_REGISTRATION))
    running = start()
    answer = ask(running, "POST", POLICIES, refusing("b", rule("configmaps"))[0])
    assert said(answer) == (
        422,
        'validatingadmissionpolicies.admissionregistration.k8s.io "b" is forbidden: '
        f"{denial('a.static.k8s.io')}",
    )


def test_policies_that_change_objects(start: Start, tmp_path: Path) -> None:
    pods_and_policies = [rule("configmaps"), EVERY_REGISTRATION]
    groups = [
        labelling(f"{name}.static.k8s.io", given, "static")
        for name, given in zip("ab", pods_and_policies, strict=True)
    ]
    write(tmp_path / "mutating", "a.json", *groups)
    running = start()
    policy, binding = labelling("api", rule("configmaps"), "api")
    labels = make(running, f"{REGISTRATION}/mutatingadmissionpolicies", policy)["metadata"]
    assert labels["labels"] == {"static": "first"}
    make(running, f"{REGISTRATION}/mutatingadmissionpolicybindings", binding)
    made = make(running, MAPS, config_map())
    assert made["metadata"]["labels"] == {"api": "late", "static": "first"}


@pytest.mark.parametrize("type_", ["mutating", "validating"])
def test_webhooks_are_asked_about_webhooks(start: Start, tmp_path: Path, type_: str) -> None:
    kind = f"{type_.capitalize()}WebhookConfiguration"
    given = calling(kind, "a.static.k8s.io", EVERY_REGISTRATION)
    write(tmp_path / f"{type_}-hooks", "a.yml", given)
    running = start()
    (configuration,) = calling(kind, "b", rule("configmaps"))
    answer = ask(running, "POST", f"{REGISTRATION}/{kind.lower()}s", configuration)
    code, message = said(answer)
    assert code == 500
    assert message.startswith('Internal error occurred: failed calling webhook "w.example.com": ')


def test_names_of_files_are_refused_to_objects(start: Start) -> None:
    running = start()
    answer = ask(running, "POST", POLICIES, refusing("a.static.k8s.io", rule("configmaps"))[0])
    assert said(answer)[0] == 422
    assert "metadata.name: Invalid value" in said(answer)[1]
    assert warnings(answer) == []


def test_what_is_reloaded_is_in_force(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "validating"
    write(folder, "a.yaml", refusing("a.static.k8s.io", rule("configmaps")))
    running = start()

    def code() -> int:
        running.wait_for(running.server.core.static.look())
        return ask(running, "POST", f"{MAPS}?dryRun=All", config_map()).code

    assert code() == 422
    (folder / "a.yaml").write_text("kind: ConfigMap")
    assert code() == 422
    (folder / "a.yaml").unlink()
    assert code() == 201
    shown = ask(running, "GET", "/metrics").body.decode()
    reloads = "apiserver_manifest_admission_config_controller_automatic_reloads_total"
    assert [line[-2:] for line in shown.splitlines() if line.startswith(reloads)] == [" 1", " 2"]


def test_plugins_that_are_not_asked_read_nothing(start: Start, tmp_path: Path) -> None:
    write(tmp_path / "validating", "a.yaml", refusing("a", rule("configmaps")))
    running = start(plugins=DEFAULT_PLUGINS - {"ValidatingAdmissionPolicy"})
    assert isinstance(running.server.core.static, StaticFiles)
    make(running, MAPS, config_map())
