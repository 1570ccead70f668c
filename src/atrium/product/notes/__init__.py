"""Notes: titled Markdown, private or the team's, shared person by person. Owns tables `notes`, `note_grants`, `note_versions`."""
