"""Bytes to requests."""
