"""The document pipeline: fields, forms and translations made from documents, each a document beside its source. Owns no table."""
