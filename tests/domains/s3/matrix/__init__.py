"""The S3 clients that people use, each driven as they would drive it, against a running server over HTTP and HTTPS.

`python -m tests.domains.s3.matrix` installs them into a folder of its own and prints what each can do.
"""
