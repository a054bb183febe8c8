"""Merges of configurations that are known before there is an object."""
