-- owner: workflows
-- By whom a run that a trigger started is bound beside its writer: the makers of triggers and the publishers of versions it descends
-- from. The object whose version fired it, which it can read in any case, and whether it may send something elsewhere. The last
-- release starts runs without any of it.
ALTER TABLE runs ADD COLUMN bound_to uuid[] NOT NULL DEFAULT '{}', ADD COLUMN fired_by uuid,
  ADD COLUMN egress boolean NOT NULL DEFAULT false;

-- Of the things of a run, those that it wrote itself.
ALTER TABLE run_objects ADD COLUMN made boolean NOT NULL DEFAULT false;
GRANT UPDATE (made) ON run_objects TO atrium_app;
