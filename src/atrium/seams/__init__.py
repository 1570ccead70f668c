"""The contract types every domain and plugin shares."""
