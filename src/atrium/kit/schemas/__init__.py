"""JSON schemas: what one may cost, where a value does not hold to it, and a reply read by it."""
