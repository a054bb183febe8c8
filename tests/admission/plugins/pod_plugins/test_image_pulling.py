"""AlwaysPullImages."""

from __future__ import annotations

from tests.admission.plugins.asking import asked, mutated, pod, refusal


def test_every_image_is_pulled() -> None:
    value = pod(
        initContainers=[{"name": "i", "image": "x", "imagePullPolicy": "Never"}],
        volumes=[{"name": "v", "image": {"reference": "y"}}, {"name": "w", "emptyDir": {}}],
    )
    made, refused = mutated("AlwaysPullImages", asked(value))
    assert refused == ""
    spec = made["spec"]
    assert [one["imagePullPolicy"] for one in spec["initContainers"] + spec["containers"]] == [
        "Always",
        "Always",
    ]
    assert spec["volumes"][0]["image"]["pullPolicy"] == "Always"


def test_what_changes_later_is_refused() -> None:
    lazy = pod(containers=[{"name": "c", "image": "i", "imagePullPolicy": "Never"}])
    assert refusal("AlwaysPullImages", asked(lazy)) == (
        '500 pods "p" is forbidden: spec.containers[0].imagePullPolicy: Unsupported value: '
        '"Never": supported values: "Always"'
    )
    assert refusal("AlwaysPullImages", asked(lazy, lazy)) == ""
    other = pod(containers=[{"name": "c", "image": "other"}])
    assert (
        mutated("AlwaysPullImages", asked(other, lazy))[0]["spec"]["containers"][0][
            "imagePullPolicy"
        ]
        == "Always"
    )
