"""AI: metered turns of models, told as they are said. Owns tables `turns`, `turn_pieces` and `turn_processes`."""
