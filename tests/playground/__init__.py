"""The playground's page: in the Python of browsers, and in a browser."""
