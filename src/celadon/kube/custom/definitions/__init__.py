"""CustomResourceDefinitions that are being written: what an API server says about them."""
