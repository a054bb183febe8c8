"""Resource quantities (`500m`, `1.5Gi`), and lists of them by resource name."""

from celadon.kube.quantities.qos_classes import qos_class
from celadon.kube.quantities.quantity import Quantity, QuantityError, from_int
from celadon.kube.quantities.quantity import parse as parse_quantity
from celadon.kube.quantities.resource_amounts import (
    ResourceList,
    has_own_needs,
    pod_needs,
    same_amount,
)
from celadon.kube.quantities.resource_amounts import parse as parse_amount

__all__ = [
    "Quantity",
    "QuantityError",
    "ResourceList",
    "from_int",
    "has_own_needs",
    "parse_amount",
    "parse_quantity",
    "pod_needs",
    "qos_class",
    "same_amount",
]
