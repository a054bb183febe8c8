"""What is noted beside an outcome."""

from __future__ import annotations

import json

from celadon.admission.webhooks.dispatchers import WebhookNotes
from tests.admission.webhooks.hooking import hooks, webhook

FIRST, SECOND = hooks(webhook(), webhook("b.hooks.example.com")).hooks


def test_annotations_are_put_under_the_name_of_the_hook() -> None:
    notes = WebhookNotes()
    notes.answered(FIRST, ["w"], {"a": "1", "no name": "2", "a/b": "3", "": "4"})
    notes.answered(FIRST, ["w"], {"a": "other"})
    assert notes.warnings == ["w", "w"]
    assert notes.annotations == {"a.hooks.example.com/a": "1"}


def test_places_count_all_hooks_when_mutating_and_those_selected_when_validating() -> None:
    notes = WebhookNotes()
    notes.mutation(SECOND, 1, mutated=True)
    notes.patch(SECOND, 0, [{"value": 1, "path": "/a", "op": "add"}])
    notes.mutating_failed_open(SECOND, 0)
    notes.validating_failed_open(SECOND, 0)
    assert json.loads(notes.annotations["mutation.webhook.admission.k8s.io/round_1_index_1"]) == {
        "configuration": "c",
        "webhook": "b.hooks.example.com",
        "mutated": True,
    }
    assert notes.request_annotations == {
        "patch.webhook.admission.k8s.io/round_0_index_1": '{"configuration":"c","webhook":'
        '"b.hooks.example.com","patch":[{"op":"add","path":"/a","value":1}],"patchType":"JSONPatch"}'
    }
    assert set(notes.annotations) == {
        "mutation.webhook.admission.k8s.io/round_1_index_1",
        "failed-open.mutation.webhook.admission.k8s.io/round_0_index_1",
        "failed-open.validating.webhook.admission.k8s.io/round_0_index_0",
    }
