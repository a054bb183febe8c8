"""Certificates and keys."""
