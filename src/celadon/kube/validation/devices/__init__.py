"""Validation of `resource.k8s.io`: devices, who offers them, and who wants them."""
