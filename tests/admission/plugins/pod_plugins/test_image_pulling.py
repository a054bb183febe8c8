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


def test_all_complaints_are_told() -> None:
    never = {"name": "c", "image": "i", "imagePullPolicy": "Never"}
    unsaid = {"name": "e", "image": "i"}
    pulled = {"name": "i", "image": "i", "imagePullPolicy": "Always"}
    new = pod(initContainers=[pulled], containers=[pulled, never], ephemeralContainers=[unsaid])
    who = 'pods "p" is forbidden: spec.'
    what = 'imagePullPolicy: Unsupported value: "{}": supported values: "Always"'
    assert refusal("AlwaysPullImages", asked(new)) == (
        f"500 [{who}containers[1].{what.format('Never')}, "
        f"{who}ephemeralContainers[0].{what.format('')}]"
    )
    assert refusal("AlwaysPullImages", asked(pod(containers=[pulled]))) == ""


def test_updates_without_new_images_stay_as_they_are() -> None:
    old = pod(containers=[{"name": "c", "image": "i"}, {"name": "d", "image": "j"}])
    new = pod(containers=[{"name": "c", "image": "j", "imagePullPolicy": "Never"}])
    made, refused = mutated("AlwaysPullImages", asked(new, old))
    assert (made["spec"]["containers"][0]["imagePullPolicy"], refused) == ("Never", "")
    unnamed = pod(containers=[{"name": "c", "imagePullPolicy": "Never"}])
    assert refusal("AlwaysPullImages", asked(unnamed, unnamed)) == ""
    assert refusal("AlwaysPullImages", asked(new, unnamed)) != ""
    volumes = [{"name": "v", "image": {"reference": "y", "pullPolicy": "Never"}}]
    again = mutated("AlwaysPullImages", asked({**new, "spec": {**new["spec"], "volumes": volumes}}))
    assert again[0]["spec"]["volumes"][0]["image"]["pullPolicy"] == "Always"
