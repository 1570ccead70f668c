"""Moving one company between instances."""
