"""HTTP in both directions: content, cursors, entity tags, addresses, calls to other servers."""
