"""Policies of Kyverno: `ClusterPolicy` and `Policy` of kyverno.io."""
