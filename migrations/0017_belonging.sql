-- owner: kit
-- A person is in one team and a team in one company. The planner multiplies the three as if they were independent, expects
-- one row where there are thousands, and sorts a whole team's rows instead of walking an index in the listing's order. It is
-- told that each follows from the other; and the indexes of notes begin with the company, so that one of them answers alone.
CREATE STATISTICS notes_belonging (dependencies) ON org_id, team_id, owner_id FROM notes;
CREATE STATISTICS objects_belonging (dependencies) ON org_id, team_id, owner_id FROM objects;
CREATE STATISTICS audit_events_belonging (dependencies) ON org_id, team_id, actor_id FROM audit_events;
CREATE STATISTICS tokens_belonging (dependencies) ON org_id, team_id, user_id FROM tokens;

DROP INDEX notes_of_owner;
DROP INDEX notes_of_team;
CREATE INDEX notes_of_owner ON notes (org_id, owner_id, updated_at DESC, id DESC);
CREATE INDEX notes_of_team ON notes (org_id, team_id, updated_at DESC, id DESC) WHERE visibility = 'team';
