"""What builds and examines the product, and is no part of it."""
