"""Branding: titles, logos and themes, the instance's and a company's on top. Owns tables `instance_branding`, `company_branding`."""
