"""Kubernetes objects on a store of bytes: their keys, their revisions, lists in pages.

Read `object_keys`, then `object_store`; `continue_tokens` is what a page says about the next one,
`strange_values` what becomes of bytes that others have written.
"""
