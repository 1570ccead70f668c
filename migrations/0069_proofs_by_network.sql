-- owner: onboarding
-- How many signed up from one network within an hour is asked for every challenge and sign-up. By age and by network the planner found
-- equally good, and by age it read what all networks had sent in that hour; now only one index answers it. What forgets old proofs reads
-- by age seldom, in the order in which they were written.
DROP INDEX onboarding_proofs_by_age;
CREATE INDEX onboarding_proofs_by_age ON onboarding_proofs USING brin (spent_at);
