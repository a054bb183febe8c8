"""Recipes about a server: a plugin, a validation rule, a column, an endpoint, a controller."""

from __future__ import annotations

import json

import pytest

from tests.recipes.copied import Copy

pytestmark = pytest.mark.thorough

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a-name-that-is-long}
immutable: true
"""

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  backoffLimit: 10
  template:
    spec:
      restartPolicy: Never
      containers: [{name: report, image: report}]
"""

SHORT_NAMES = '''\
"""ShortNames: the names of ConfigMaps have at most ten characters."""

from __future__ import annotations

from typing import Final

from celadon.admission.plugins.plugin_interface import CREATE, Behaviour, core, forbidden
from celadon.admission.request import Request
from celadon.admission.cluster_lookups import World
from celadon.kube import StatusError


def _validate(request: Request, world: World) -> StatusError | None:
    """Refuse a longer name with 403."""
    return forbidden(request, "the name is too long") if len(request.name) > 10 else None


SHORT_NAMES: Final = Behaviour(validate=_validate, resources=core("configmaps"), operations=CREATE)
'''


def test_a_plugin(copy: Copy) -> None:
    copy.insert(
        "src/celadon/kube/resources/admission_plugins.py",
        '    PluginFacts("AlwaysAdmit", on=False, mutates=True, validates=True),\n',
        '    PluginFacts("ShortNames", on=False, validates=True),\n',
    )
    copy.write("src/celadon/admission/plugins/short_names.py", SHORT_NAMES)
    chain = "src/celadon/admission/plugins/plugin_chain.py"
    copy.insert(
        chain,
        "from celadon.admission.plugins.pod_security import SecuritySettings, pod_security\n",
        "from celadon.admission.plugins.short_names import SHORT_NAMES\n",
    )
    copy.insert(
        chain,
        '    "ServiceAccount": (SERVICE_ACCOUNT,),\n',
        '    "ShortNames": (SHORT_NAMES,),\n',
    )
    copy.write("map.yaml", CONFIG_MAP)
    copy.celadon("check", "map.yaml")
    report = copy.celadon("check", "--enable-admission-plugins", "ShortNames", "map.yaml", code=1)
    assert 'configmaps "a-name-that-is-long" is forbidden: the name is too long' in report


def test_a_validation_rule(copy: Copy) -> None:
    """One that is data, and one that is written in Python."""
    path = "data/schemas/io.k8s.api.batch.v1.json"
    schemas = json.loads(copy.read(path))
    schemas["JobSpec"]["rules"].append(["range", "backoffLimit", 0, 9])
    (copy.root / path).write_text(json.dumps(schemas, indent=2) + "\n", encoding="utf-8")
    copy.python("tools/build_packs.py")
    copy.write("job.yaml", JOB)
    report = copy.celadon("check", "--no-generated-pods", "job.yaml", code=1)
    assert "spec.backoffLimit: Invalid value: 10: must be between 0 and 9, inclusive" in report

    copy.insert(
        "src/celadon/kube/validation/config_maps_and_secrets.py",
        '    """Yield what is wrong with a ConfigMap, besides its metadata."""\n',
        '    if obj.get("immutable") and not obj.get("data"):\n'
        '        yield fieldpath.required(_DATA, "an immutable ConfigMap needs it")\n',
    )
    copy.write("map.yaml", CONFIG_MAP)
    report = copy.celadon("check", "map.yaml", code=1)
    assert "data: Required value: an immutable ConfigMap needs it" in report


def test_a_printer_column(copy: Copy) -> None:
    path = "data/resources/scheduling.k8s.io.v1.json"
    resources = json.loads(copy.read(path))
    column = {"name": "Policy", "type": "string", "cell": ["or", ".preemptionPolicy", "<none>"]}
    resources["priorityclasses"]["columns"].append(column)
    (copy.root / path).write_text(json.dumps(resources, indent=2) + "\n", encoding="utf-8")
    copy.python("tools/build_packs.py")
    assert copy.python("-c", SHOW_COLUMN) == "Policy <none>\n"


def test_an_endpoint(copy: Copy) -> None:
    answers = "src/celadon/apiserver/request_layers.py"
    copy.replace(
        answers,
        '        if first == "version":\n',
        '        if request.path == "/motto":\n'
        '            return plain_text(200, "exactly")\n'
        '        if first == "version":\n',
    )
    copy.replace(
        answers, "(*self._openid.paths, *pages)", '(*self._openid.paths, *pages, "/motto")'
    )
    assert copy.python("-c", ASK_ENDPOINT) == "exactly True\n"


def test_a_controller(copy: Copy) -> None:
    copy.write("src/celadon/apiserver/controllers/seen_namespaces.py", SEEN_NAMESPACES)
    copy.insert(
        "src/celadon/apiserver/controllers/controller_loops.py",
        '    "resourcequota-controller",\n',
        '    "seen-namespaces-controller",\n',
    )
    controllers = "src/celadon/apiserver/controllers/server_controllers.py"
    copy.insert(
        controllers,
        "from celadon.apiserver.http_messages import HttpAnswer, HttpRequest\n",
        "from celadon.apiserver.controllers.seen_namespaces import SeenNamespaces\n",
    )
    copy.insert(
        controllers,
        '    "resourcequota-controller": _quotas,\n',
        '    "seen-namespaces-controller": lambda given: '
        "SeenNamespaces(given.writes(NAMESPACES)),\n",
    )
    assert copy.python("-c", ASK_CONTROLLER) == "true\n"


SHOW_COLUMN = """\
from celadon.apiserver.printers.tables import built_in_shape
from celadon.kube import GroupVersionResource

shape = built_in_shape(GroupVersionResource("scheduling.k8s.io", "v1", "priorityclasses"))
print("Policy", shape.cells({"metadata": {"name": "ours"}, "value": 1}, 0)[-1])
"""

ASK_ENDPOINT = """\
from celadon.testing import KubeApi

with KubeApi() as api:
    print(api.request("GET", "/motto"), "/motto" in api.request("GET", "/")["paths"])
"""

ASK_CONTROLLER = """\
from celadon.testing import KubeApi

with KubeApi() as api:
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    api.settle()
    print(api.request("GET", "/api/v1/namespaces/shop")["metadata"]["labels"]["example.com/seen"])
"""

SEEN_NAMESPACES = '''\
"""Every namespace gets the label `example.com/seen`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from celadon.apiserver.controllers.controller_loops import Change, StatusWrites
from celadon.kube import metadata


class SeenNamespaces:
    """Labels namespaces. Items are their names."""

    urgent = False

    def __init__(self, namespaces: StatusWrites) -> None:
        self._namespaces = namespaces

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._namespaces.prefix,)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.new is not None:
            yield metadata.name(change.new)

    async def reconcile(self, item: str) -> None:
        stored = self._namespaces.get(item)
        if stored is not None:
            obj = stored.object
            labels = {**metadata.labels(obj), "example.com/seen": "true"}
            seen = {**obj, "metadata": {**metadata.metadata(obj), "labels": labels}}
            await self._namespaces.replace(stored, seen)
'''
