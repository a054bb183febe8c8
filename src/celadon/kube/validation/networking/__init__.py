"""Services, Endpoints, Ingresses and NetworkPolicies."""
