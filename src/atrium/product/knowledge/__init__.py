"""Knowledge: entities and relations read out of documents by a model, shown to each reader from the documents they can read.

Owns tables `knowledge_shares`, `knowledge_mentions`, `knowledge_relations`, `knowledge_refusals`, `knowledge_merges`, `knowledge_salts`.
A *share* is what one version of an object contributes; a *mention* is an entity named at one place of it; a *merge* is a person's word
that two entities are one. Entities themselves have no table: one exists for a reader as long as they can read a mention of it.
"""
