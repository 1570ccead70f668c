"""Tools: what models and workflows call, and which a team has turned on. Owns table `tool_switches`."""
