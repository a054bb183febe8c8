"""What Services get: families, addresses and ports, when they are made and when they change."""
