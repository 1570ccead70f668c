"""A floor of the house; its rooms are the domains inside."""
