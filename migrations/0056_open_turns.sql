-- owner: ai
-- Which turn is open in a conversation is asked whenever the conversation is opened.
CREATE INDEX turns_by_conversation ON turns (conversation_id, started_at) WHERE conversation_id IS NOT NULL;
