"""Agent: turns in which a model calls tools until it answers. Owns tables `agent_runs` and `agent_calls`."""
