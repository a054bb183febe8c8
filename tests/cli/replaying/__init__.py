"""Audit logs against policies."""
