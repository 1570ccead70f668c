"""S3 as its clients use it: real servers, real clients."""
