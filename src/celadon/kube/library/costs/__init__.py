"""What Kubernetes charges: costs that libraries share, costs of the language's functions."""
