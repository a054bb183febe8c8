"""What a configuration file says of the admission plugins (`--admission-control-config-file`).

`admission_configuration` finds the part of each plugin; a module for each plugin that has one says
what may stand there. What comes out, `PluginSettings`, is what the plugins themselves go by.
"""

from celadon.admission.plugins.configuration.admission_configuration import plugin_settings
from celadon.admission.plugins.configuration.configuration_errors import BadConfiguration

__all__ = ["BadConfiguration", "plugin_settings"]
