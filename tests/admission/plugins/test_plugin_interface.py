"""Which requests a plugin is asked about, and how it refuses."""

from __future__ import annotations

import pytest

from celadon.admission import Operation, Request
from celadon.admission.plugins.plugin_interface import CREATE, PODS, Behaviour, forbidden
from tests.admission.plugins.asking import asked, obj, pod, text

NEW = asked(pod())
CHANGED = asked(pod(), pod())
BOUND = asked(pod(), subresource="binding")
GONE = asked(None, pod(), Operation.DELETE)
MAP = asked(obj("ConfigMap", "c"))


@pytest.mark.parametrize(
    ("behaviour", "concerned"),
    [
        (Behaviour(), [NEW, CHANGED, MAP]),
        (Behaviour(resources=PODS), [NEW, CHANGED]),
        (Behaviour(resources=PODS, operations=CREATE), [NEW]),
        (Behaviour(subresources=None, operations=CREATE), [NEW, BOUND, MAP]),
        (Behaviour(subresources=frozenset({"binding"})), [BOUND]),
        (Behaviour(operations=frozenset({Operation.DELETE})), [GONE]),
    ],
)
def test_requests_it_is_asked_about(behaviour: Behaviour, concerned: list[Request]) -> None:
    given = [NEW, CHANGED, BOUND, GONE, MAP]
    assert [one for one in given if behaviour.concerns(one)] == concerned


def test_a_refusal_names_the_object() -> None:
    assert text(forbidden(NEW, "why")) == '403 pods "p" is forbidden: why'
    generated = asked({**pod(), "metadata": {"generateName": "p-", "namespace": "ns"}})
    assert text(forbidden(generated, "why")) == '403 pods "p-" is forbidden: why'
