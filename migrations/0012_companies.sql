-- owner: tenancy
ALTER TABLE orgs
  ADD plan text NOT NULL DEFAULT 'unlimited',
  ADD domain text UNIQUE,
  ADD domain_proof text,
  ADD domain_verified_at timestamptz;

-- Asked before anybody has signed in: whose hostname is this? Only a proven one counts.
CREATE FUNCTION find_org_by_domain(hostname text) RETURNS uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
  RETURN (SELECT id FROM orgs WHERE domain = hostname AND domain_verified_at IS NOT NULL);
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION find_org_by_domain(text) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION find_org_by_domain(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_org_by_domain(text) TO atrium_app, atrium_system;
