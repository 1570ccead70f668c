"""The contract types every room and plugin shares."""
