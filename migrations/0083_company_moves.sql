-- owner: moving
-- Where a company that came or is going stands. It outlives the company's own rows, so it belongs to the instance.
CREATE TABLE company_moves (
  company uuid PRIMARY KEY,
  state text NOT NULL CHECK (state IN ('leaving', 'left', 'arrived')),
  was_suspended boolean NOT NULL,
  -- The digest of the archive's manifest; unset until it was written whole.
  archive text,
  location text,
  changed_at timestamptz NOT NULL DEFAULT now()
);
