"""AI: metered turns of models and runs of the agent.

Owns tables `turns`, `turn_pieces`, `turn_processes`, `agent_runs` and `agent_calls`.
"""
