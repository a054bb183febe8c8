"""The webhook on the network: its paths, limits, metrics, decision log, and an orderly end."""
