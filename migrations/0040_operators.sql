-- owner: identity
-- Whoever serves a company's requests cannot make an operator, whatever a statement says: only the directory's role writes
-- that column, and nobody moves a person to another company.
REVOKE INSERT, UPDATE ON users FROM atrium_app, atrium_system;
GRANT INSERT (id, org_id, team_id, username, display_name, role, org_role, password_hash) ON users TO atrium_app, atrium_system;
GRANT UPDATE (username, display_name, locale, role, org_role, password_hash, totp_sealed, totp_last_step, left_at)
  ON users TO atrium_app, atrium_system;
GRANT UPDATE (operator) ON users TO atrium_system;
