"""What an API server remarks about objects."""
