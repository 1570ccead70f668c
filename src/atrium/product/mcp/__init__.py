"""MCP: other servers' tools for the agent, and the workspace's tools for other programs. Owns no table."""
