"""Validation of what controllers and kubelets report: updates of the status of built-in kinds."""
