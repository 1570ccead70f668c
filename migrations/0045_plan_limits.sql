-- owner: quotas
-- A limit says whether a plan set it, so that a changed plan takes its own away and leaves what somebody set by hand. What equals the
-- cap that its company's plan had is the plan's; plans were the same everywhere until now.
ALTER TABLE quota_limits ADD by_plan boolean NOT NULL DEFAULT false, ADD CHECK (NOT by_plan OR scope_id = org_id);
SET LOCAL ROLE atrium_system;
UPDATE quota_limits l SET by_plan = true
  FROM orgs o,
       (VALUES ('free', 'ai.requests', 'day', 200), ('free', 'ai.tokens.total', 'month', 200000), ('free', 'ai.concurrency', 'total', 2),
               ('free', 'storage.bytes', 'total', 1000000000), ('free', 'jobs.concurrency', 'total', 4),
               ('team', 'ai.requests', 'day', 5000), ('team', 'ai.tokens.total', 'month', 10000000), ('team', 'ai.concurrency', 'total', 10),
               ('team', 'storage.bytes', 'total', 100000000000), ('team', 'jobs.concurrency', 'total', 32),
               ('business', 'ai.requests', 'day', 100000), ('business', 'ai.tokens.total', 'month', 200000000),
               ('business', 'ai.concurrency', 'total', 50), ('business', 'storage.bytes', 'total', 2000000000000),
               ('business', 'jobs.concurrency', 'total', 128)) AS p (plan, dimension, per, most)
 WHERE o.id = l.org_id AND l.scope_id = l.org_id AND o.plan = p.plan AND l.dimension = p.dimension AND l.per = p.per AND l.most = p.most;
SET LOCAL ROLE NONE;
