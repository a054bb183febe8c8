"""Validation of claims, volumes, and those who provide them."""
