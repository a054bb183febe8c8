"""Patches: the new object from the old one. Read `patched_objects` first."""
