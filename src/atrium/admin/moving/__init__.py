"""Moving one company between instances: out in one archive, in whole or not at all, released last. Owns table `company_moves`."""
