"""Resource quantities (`500m`, `1.5Gi`), and lists of them by resource name."""

from celadon.kube.quantities.quantity import Quantity, QuantityError
from celadon.kube.quantities.quantity import parse as parse_quantity

__all__ = [
    "Quantity",
    "QuantityError",
    "parse_quantity",
]
