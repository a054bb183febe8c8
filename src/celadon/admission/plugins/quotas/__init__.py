"""What ResourceQuotas count, and whether a request fits into them."""
