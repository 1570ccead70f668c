"""S3: the repository as every S3 client sees it. Owns tables `s3_keys`, `s3_buckets`.

A *key pair* is a person's access key id and its secret; requests are signed with it and act as that person, within the
pair's scope. The *bucket* is the caller's team's keys; an extra bucket, where they are allowed, is a folder of it.
`gateway` takes a request from signature to reply; everything it does, it does through the repository's own verbs.
"""
