"""Patches: the new object from the old one. Read `patched_objects` first."""

from celadon.kube.registry.patching.patches import apply_merge_patch

__all__ = ["apply_merge_patch"]
