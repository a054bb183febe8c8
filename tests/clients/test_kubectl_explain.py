"""kubectl explain in all its forms, and what else kubectl reads in OpenAPI documents."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from celadon.testing import KubeApi
from tests.clients.programs import Client

pytestmark = pytest.mark.thorough

GADGETS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget, singular: gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
    schema:
      openAPIV3Schema:
        type: object
        description: A gadget is useful.
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, description: How large it is.}
              color: {type: string, enum: [red, green]}
              port: {x-kubernetes-int-or-string: true}
              maybe: {type: string, nullable: true}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {size: {type: integer}}}
  - name: v1alpha1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        description: An older gadget.
        x-kubernetes-preserve-unknown-fields: true
"""


@pytest.fixture
def gadgets(kubectl: Client, api: KubeApi) -> Client:
    """With a definition."""
    kubectl("apply", "-f", kubectl.write("gadgets.yaml", GADGETS))
    api.settle()
    return kubectl


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (
            ("deployments.spec.template", "--recursive"),
            "    containers\t<[]Container> -required-\n",
        ),
        (("hpa.spec", "--api-version", "autoscaling/v2"), "  metrics\t<[]MetricSpec>\n"),
        (
            ("hpa.spec", "--api-version", "autoscaling/v1"),
            "  targetCPUUtilizationPercentage\t<integer>\n",
        ),
        (("pods.spec.containers.resources.limits",), "FIELD: limits <map[string]Quantity>\n"),
        (("configmaps", "--output", "plaintext-openapiv2"), "   binaryData\t<map[string]string>\n"),
        (
            ("pods.spec", "--output", "plaintext-openapiv2", "--recursive"),
            "   containers\t<[]Object>\n",
        ),
        (
            ("crd.spec.versions.schema.openAPIV3Schema",),
            "  additionalItems\t<JSONSchemaPropsOrBool>\n",
        ),
    ],
)
def test_built_in_types(kubectl: Client, arguments: tuple[str, ...], shown: str) -> None:
    assert shown in kubectl("explain", *arguments)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("gadgets",), "DESCRIPTION:\n    A gadget is useful.\n"),
        (("gadgets.spec",), "  size\t<integer> -required-\n    How large it is.\n"),
        (("gadgets.spec.color",), "ENUM:\n    red\n    green\n"),
        (("gadgets.spec.port",), "FIELD: port <Object>\n"),
        (("gadgets", "--api-version", "example.com/v1alpha1"), "An older gadget."),
        (("gadgets.metadata.labels",), "FIELD: labels <map[string]string>\n"),
        (("gadgets.spec", "--output", "plaintext-openapiv2"), "   size\t<integer> -required-\n"),
    ],
)
def test_custom_resources(gadgets: Client, arguments: tuple[str, ...], shown: str) -> None:
    assert shown in gadgets("explain", *arguments)


def test_fields_are_checked_by_the_server(gadgets: Client) -> None:
    wrong = (
        "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\nspec: {size: 1, siez: 2}\n"
    )
    path = gadgets.write("wrong.yaml", wrong)
    assert 'unknown field "spec.siez"' in gadgets.fails("create", "-f", path)
    assert (
        "gadget.example.com/a created" in gadgets.run("create", "-f", path, "--validate=warn").out
    )


def test_scale_of_a_custom_resource(gadgets: Client) -> None:
    right = "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: b}\nspec: {size: 1}\n"
    gadgets("apply", "-f", gadgets.write("right.yaml", right))
    gadgets("scale", "gadget/b", "--replicas=3")
    assert gadgets("get", "gadget", "b", "-o", "jsonpath={.spec.size}") == "3"


def test_completion_of_resources(gadgets: Client) -> None:
    done = replace(gadgets, arguments=()).run("__complete", "get", "gadg")
    assert done.out.startswith("gadgets")


def test_every_document_of_the_index_is_there(gadgets: Client) -> None:
    index = json.loads(gadgets("get", "--raw", "/openapi/v3"))["paths"]
    assert {"api", "apis", "apis/apps", "apis/example.com/v1", "version"} <= index.keys()
    for entry in index.values():
        document = json.loads(gadgets("get", "--raw", entry["serverRelativeURL"]))
        assert document["openapi"] == "3.0.0"
