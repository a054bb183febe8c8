"""Simulations of a cluster that comes up: `lock_text` for people, `lock_data` for programs."""
