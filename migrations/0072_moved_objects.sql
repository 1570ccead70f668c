-- owner: repository
-- A renamed object is downloaded under its new name: the versions that were called as the key was follow it.
GRANT UPDATE (filename) ON object_versions TO atrium_app;
