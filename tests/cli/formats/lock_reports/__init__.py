"""Simulations as text and data."""
