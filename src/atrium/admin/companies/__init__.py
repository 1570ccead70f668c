"""Companies: the operators' plane over all of them, and each company's own plane. Owns no table: tenancy does."""
