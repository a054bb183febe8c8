"""JSONPath as Kubernetes' clients write it: what a path says, what it selects, how that prints."""

from celadon.kube.jsonpath.jsonpath_steps import JSONPathError, parse_jsonpath
from celadon.kube.jsonpath.jsonpath_values import printed, selected

__all__ = ["JSONPathError", "parse_jsonpath", "printed", "selected"]
