"""PostgreSQL: connections, transactions, notifications, migrations, dumps."""
