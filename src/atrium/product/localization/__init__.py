"""Localization: the console's messages in every locale, translated, reviewed and served. Owns tables `l10n_messages`, `l10n_history`,
`l10n_counts`, `l10n_locales`, `l10n_imports`."""
