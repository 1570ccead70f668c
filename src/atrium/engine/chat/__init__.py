"""Chat: questions to a model, and the conversations they are part of. Owns no table: a conversation is an object of the repository."""
