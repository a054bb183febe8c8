"""Servers for the tests of others."""
