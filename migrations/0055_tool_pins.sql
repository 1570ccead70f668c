-- owner: tools
-- What was turned on: the definition of another server's tool as it was then. Another one is another tool, and is off.
ALTER TABLE tool_switches
  ADD COLUMN pin bytea CHECK (octet_length(pin) = 32),
  ADD COLUMN definition jsonb,
  ADD COLUMN switched_by uuid,
  ADD COLUMN switched_at timestamptz NOT NULL DEFAULT now(),
  ADD CHECK ((pin IS NULL) = (definition IS NULL));
