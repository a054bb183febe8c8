"""ResourceQuotas of a server: what a write uses of them is charged before it happens."""
