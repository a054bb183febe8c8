"""CustomResourceDefinitions: what their status says (`definition_status`), who writes it
(`definition_controller`), and how they go (`definition_cleanup`)."""
