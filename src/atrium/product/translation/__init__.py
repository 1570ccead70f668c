"""Translation: texts and catalogs by a model, placeholders whole, in a team's words. Owns tables `translations`, `glossary_terms`."""
