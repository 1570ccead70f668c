-- owner: workflows
-- transaction: none
-- Reviews of a person who leaves the company go with them.
DROP INDEX CONCURRENTLY IF EXISTS workflow_reviews_of_person;
-- next
CREATE INDEX CONCURRENTLY workflow_reviews_of_person ON workflow_reviews (org_id, user_id);
