"""Repository: versioned objects addressed by key, with visibility, grants and provenance.

Owns tables `objects`, `object_versions`, `object_grants`, `object_texts`, `derivations`, `blobs`, `blob_releases`,
`multipart_uploads`, `multipart_parts`.
A *blob* is bytes by SHA-256 within a company, a *version* is one state of an object and refers to a blob, a *grant* gives a
principal access. Bytes are staged first, put into the blob store, and referred to in one transaction; see `release.py`.
"""
