"""Upload triggers: a version that matches one starts its workflow. Owns tables `doc_triggers`, `trigger_matches`, `trigger_fires`."""
