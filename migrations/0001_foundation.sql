-- owner: kit
-- The two walls' second half. Every tenant table is built by `wall_off`: row-level security enabled and forced, one
-- restrictive policy on the transaction's company, and nothing at all while that is unset.
--
-- atrium_app     serves requests; sees the rows of the one company its transaction names.
-- atrium_system  reads the directory of all companies (who is this token, which companies exist); it is granted no
--                column of anybody's content.

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO atrium_app, atrium_system;
GRANT SELECT ON schema_migrations TO atrium_app, atrium_system;

-- A custom setting that was used once reads '' instead of NULL afterwards; both mean "no company".
CREATE FUNCTION current_org() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  RETURN NULLIF(current_setting('app.org_id', true), '')::uuid;

CREATE PROCEDURE wall_off(tenant_table regclass, org_column text DEFAULT 'org_id') LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tenant_table);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', tenant_table);
  EXECUTE format('CREATE POLICY tenant_wall ON %s AS RESTRICTIVE TO atrium_app USING (%I = (SELECT current_org())) WITH CHECK (%I = (SELECT current_org()))', tenant_table, org_column, org_column);
  EXECUTE format('CREATE POLICY tenant_open ON %s TO atrium_app USING (true) WITH CHECK (true)', tenant_table);
  EXECUTE format('CREATE POLICY system_open ON %s TO atrium_system USING (true) WITH CHECK (true)', tenant_table);
END $$;
REVOKE ALL ON PROCEDURE wall_off FROM PUBLIC;
