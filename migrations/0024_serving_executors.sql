-- owner: executors
-- What a company's own transaction may learn of a machine that serves it: enough to choose it, nothing that opens it.
-- Of two with one name the company's own comes first.
CREATE FUNCTION serving_executor(wanted text)
RETURNS TABLE (id uuid, name text, mode text, model text, capabilities text[], own boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT e.id, e.name, e.mode, e.model, e.capabilities, e.bound_to IS NOT NULL FROM executors e
   WHERE lower(e.name) = lower(wanted) AND e.retired_at IS NULL AND (e.bound_to IS NULL OR e.bound_to = current_org())
   ORDER BY e.bound_to NULLS LAST LIMIT 1
$$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION serving_executor(text) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION serving_executor(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION serving_executor(text) TO atrium_app;
