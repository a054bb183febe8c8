"""Simulations of clusters that come up."""
