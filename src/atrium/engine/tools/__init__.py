"""Tools: what models and workflows may call, and which a team has switched off. Owns table `tool_switches`."""
