"""Localization: the console's messages in every locale, resolved through the fallback chain. Owns no table yet."""
