"""What an update may change: parts by subresource, and fields whose feature gate is off."""
