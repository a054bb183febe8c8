"""The Pod Security Standards, and the plugin that holds pods to them."""
