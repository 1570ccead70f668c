-- owner: executors
-- Whether the machines that this server calls answer. One that was made has its id as subject, one of the settings its name.
CREATE TABLE executor_probes (
  subject text COLLATE "C" PRIMARY KEY,
  -- Whoever moves this forward is the one that looks.
  probed_at timestamptz NOT NULL DEFAULT now(),
  healthy boolean,
  seen_at timestamptz
);
GRANT SELECT, INSERT, UPDATE, DELETE ON executor_probes TO atrium_system;
