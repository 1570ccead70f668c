-- owner: branding
-- A look is public by purpose: it is on the sign-in page. A logo is the finished data: URI, so that a read copies it.
-- The instance's row has no company and always exists; requests read it, and only the system changes it.
CREATE TABLE instance_branding (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  title text,
  tagline text,
  logo text CHECK (logo ~ '^data:image/(png|jpeg|webp);base64,' AND length(logo) <= 200000),
  theme jsonb NOT NULL DEFAULT '{}',
  revision uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO instance_branding DEFAULT VALUES;
GRANT SELECT ON instance_branding TO atrium_app;
GRANT SELECT, UPDATE ON instance_branding TO atrium_system;

-- `palette` is every colour of the set that `theme` was accepted in: what is shown when the instance's theme changes so
-- that the two no longer go together.
CREATE TABLE company_branding (
  org_id uuid PRIMARY KEY REFERENCES orgs,
  title text,
  tagline text,
  logo text CHECK (logo ~ '^data:image/(png|jpeg|webp);base64,' AND length(logo) <= 200000),
  theme jsonb NOT NULL DEFAULT '{}',
  palette jsonb NOT NULL DEFAULT '{}',
  revision uuid NOT NULL DEFAULT gen_random_uuid()
);
CALL wall_off('company_branding');
GRANT SELECT, INSERT, UPDATE, DELETE ON company_branding TO atrium_app;
GRANT SELECT ON company_branding TO atrium_system;

-- Asked on every page load, before anybody has signed in: the look of a hostname, else of the transaction's company, else
-- of the instance. It runs as atrium_system, so a request gets past the wall to exactly the one look that the hostname
-- shows to everybody.
CREATE FUNCTION find_branding(hostname text) RETURNS TABLE (
  title text, tagline text, theme jsonb, revision uuid,
  own_title text, own_tagline text, own_theme jsonb, own_palette jsonb, own_revision uuid, own_logo boolean, logo text
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT i.title, i.tagline, i.theme, i.revision, c.title, c.tagline, c.theme, c.palette, c.revision,
         c.logo IS NOT NULL, coalesce(c.logo, i.logo)
    FROM instance_branding i
    LEFT JOIN company_branding c ON c.org_id = coalesce(find_org_by_domain(hostname), current_org())
$$;
GRANT CREATE ON SCHEMA public TO atrium_system;
ALTER FUNCTION find_branding(text) OWNER TO atrium_system;
REVOKE CREATE ON SCHEMA public FROM atrium_system;
REVOKE ALL ON FUNCTION find_branding(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_branding(text) TO atrium_app;
