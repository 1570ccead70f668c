"""Inference: the ways to ask a model (OpenAI's protocol, a simulated one) and what a turn costs. Owns no table."""
