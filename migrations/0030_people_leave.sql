-- owner: identity
-- Somebody who left keeps their row, because their name stays on what they did; nothing acts for them any more, and their
-- username is free again.
ALTER TABLE users ADD left_at timestamptz;
DROP INDEX users_by_username;
CREATE UNIQUE INDEX users_by_username ON users (lower(username)) WHERE left_at IS NULL;

-- A person with the role of a machine could work on any job of the company. The role is no longer given, and whoever has it
-- has left; the accounts of machines that are in service are not people.
UPDATE users u SET left_at = now(), password_hash = NULL, totp_sealed = NULL, operator = false, org_role = NULL
 WHERE u.role = 'worker'
   AND NOT EXISTS (SELECT FROM executors e JOIN tokens t ON t.id = e.token_id WHERE t.user_id = u.id);
DELETE FROM tokens t USING users u WHERE u.id = t.user_id AND u.left_at IS NOT NULL;
DELETE FROM s3_keys k USING users u WHERE u.id = k.user_id AND u.left_at IS NOT NULL;
DELETE FROM recovery_codes c USING users u WHERE u.id = c.user_id AND u.left_at IS NOT NULL;
