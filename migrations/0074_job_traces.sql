-- owner: jobs
-- What a job follows from, as W3C Trace Context writes it: its log lines and spans are part of the trace of whatever queued it.
ALTER TABLE jobs ADD COLUMN traceparent text;
