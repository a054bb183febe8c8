"""The kinds of patches, and how two configurations become one.

`patches` are JSON patches and merge patches, and the patch between two objects, `strategic_merge`
knows which lists are merged, `three_way_merge` is what `kubectl apply` sends. Read
`celadon.kube.registry.patch` first.
"""

from celadon.kube.registry.patching.patches import apply_merge_patch, read_patch

__all__ = ["apply_merge_patch", "read_patch"]
