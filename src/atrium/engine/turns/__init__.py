"""Turns: metered replies of models, told while they are said. Owns tables `turns`, `turn_pieces` and `turn_processes`."""
