"""Policies of Kyverno: `ClusterPolicy`, `Policy`, and `ValidatingPolicy`, which is written in
CEL.
"""
