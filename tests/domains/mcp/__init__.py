"""MCP both ways: the tools of other servers, and ours for other programs."""
