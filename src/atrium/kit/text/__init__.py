"""Texts and languages: messages with arguments, catalogs, names of languages, how many tokens a text is."""
