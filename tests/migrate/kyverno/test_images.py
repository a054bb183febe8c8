"""`images`: what Kyverno tells of the images of containers, taken apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import Json
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, result, rule, translated
from tests.migrate.kyverno.test_mutate_rules import assert_makes, container, with_containers

DIGEST = "sha256:abc"


def denying(key: str, values: list[str], operator: str = "AnyIn") -> dict[str, Any]:
    condition = {"key": key, "operator": operator, "value": values}
    return rule({"message": "no", "deny": {"conditions": {"all": [condition]}}})


def is_told(image: str, part: str, value: str) -> bool:
    """Whether a part of an image is a value, as a translated rule sees it."""
    found = translated(kyverno_policy(denying(f"{{{{ images.containers.*.{part} }}}}", [value])))
    return result(found, with_containers({"name": "c", "image": image})) == "fail"


def parts_of(image: str) -> dict[str, str]:
    """An image taken apart as Kyverno does it: step by step, from the left."""
    first, slash, rest = image.partition("/")
    is_registry = slash and (
        "." in first or ":" in first or first == "localhost" or first != first.lower()
    )
    registry, path = (first, rest) if is_registry else ("docker.io", image)
    path, _, digest = path.partition("@")
    *before, last = path.split("/")
    name, _, tag = last.partition(":")
    made = {"registry": registry, "path": "/".join([*before, name]), "name": name}
    if tag or not digest:
        made["tag"] = tag or "latest"
    return {**made, "digest": digest} if digest else made


@pytest.mark.parametrize(
    ("image", "parts"),
    [
        ("nginx", {"registry": "docker.io", "path": "nginx", "name": "nginx", "tag": "latest"}),
        ("a/nginx:1", {"registry": "docker.io", "path": "a/nginx", "name": "nginx", "tag": "1"}),
        ("ghcr.io/a/b:1", {"registry": "ghcr.io", "path": "a/b", "name": "b", "tag": "1"}),
        ("host:5000/b", {"registry": "host:5000", "path": "b", "name": "b", "tag": "latest"}),
        ("localhost/b", {"registry": "localhost", "path": "b", "name": "b", "tag": "latest"}),
        (f"b@{DIGEST}", {"registry": "docker.io", "path": "b", "name": "b", "digest": DIGEST}),
        (f"r.io/b:1@{DIGEST}",
         {"registry": "r.io", "path": "b", "name": "b", "tag": "1", "digest": DIGEST}),
    ],
)  # fmt: skip
def test_parts(image: str, parts: dict[str, str]) -> None:
    assert parts_of(image) == parts
    for part, value in parts.items():
        assert is_told(image, part, value)
        assert not is_told(image, part, f"{value}x")
    for part in {"tag", "digest"} - {*parts}:
        assert not is_told(image, part, "*")


_IMAGES = st.builds(
    lambda registry, path, tag, digest: f"{registry}{path}{tag}{digest}",
    st.sampled_from(["", "r.io/", "localhost/", "h:5/", "Up/", "up/", "localhost.x/"]),
    st.sampled_from(["a", "a/b", "localhost", "a.b", "x/y/z"]),
    st.sampled_from(["", ":1", ":latest", ":v.2"]),
    st.sampled_from(["", "@sha256:abc"]),
)
_PARTS = st.sampled_from(["registry", "path", "name", "tag", "digest"])


@given(_IMAGES, _IMAGES, _PARTS)
def test_parts_of_any_image(image: str, other: str, part: str) -> None:
    asked = parts_of(other).get(part, "latest")
    assert is_told(image, part, asked) == (parts_of(image).get(part) == asked)


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"containers": [container("a")]}, "pass"),
        ({"containers": [container("a"), container("x")]}, "fail"),
        ({"containers": [container("a")], "initContainers": [container("x")]}, "fail"),
        ({"containers": [container("a")], "ephemeralContainers": [container("a")]}, "pass"),
    ],
)
def test_images_of_all_containers(spec: Json, found: str) -> None:
    key = "{{ images.[containers, initContainers, ephemeralContainers][].*.name[] }}"
    policy = translated(kyverno_policy(denying(key, ["a", "b"], "AnyNotIn")))
    assert result(policy, pod(spec)) == found  # type: ignore[arg-type] # an object


def test_images_of_controllers() -> None:
    key = "{{ images.containers.*.registry }}"
    policies = translated(kyverno_policy(denying(key, ["r.io"]), annotations={})).policies
    texts = [one["spec"]["validations"][0]["expression"] for one in policies]
    below = ["object.spec.", "object.spec.template.spec.", "object.spec.jobTemplate."]
    assert [text.startswith(one) for text, one in zip(texts, below, strict=True)] == [True] * 3


def test_the_image_of_an_element() -> None:
    image = """r.io/{{ images.containers."{{element.name}}".path }}"""
    tagged = image + """:{{ images.containers."{{element.name}}".tag }}"""
    patch = {"spec": {"containers": [{"name": "{{ element.name }}", "image": tagged}]}}
    mutate = {"foreach": [{"list": "request.object.spec.containers", "patchStrategicMerge": patch}]}
    before = [{"name": "a", "image": "h:5/x/a"}, {"name": "b", "image": "b:1"}]
    after = [{"name": "a", "image": "r.io/x/a:latest"}, {"name": "b", "image": "r.io/b:1"}]
    assert_makes(mutate, with_containers(*before), with_containers(*after))


@pytest.mark.parametrize(
    ("key", "kind", "reason"),
    [
        ("{{ images.containers.a.tag }}", "Pod", "the image of one container"),
        ("{{ images.containers.*.reference }}", "Pod", "`reference`, which admission policies"),
        ("{{ images.containers.*.tag }}", "Service", "`images`, which admission policies"),
    ],
)
def test_what_is_not_told(key: str, kind: str, reason: str) -> None:
    given = denying(key, ["a"])
    given["match"] = {"any": [{"resources": {"kinds": [kind]}}]}
    assert translated(kyverno_policy(given)).reason.startswith(reason)
