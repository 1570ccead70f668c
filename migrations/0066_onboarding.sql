-- owner: onboarding
-- The onboarding funnel of the instance's first company: its sign-up form in a draft and in published versions, pictures and fonts,
-- proofs of work that were spent, and the people who signed up.

-- What digests of addresses and networks, and the signatures of challenges, are keyed with; sealed.
CREATE TABLE onboarding_secrets (
  org_id uuid PRIMARY KEY REFERENCES orgs,
  sealed bytea NOT NULL
);
CALL wall_off('onboarding_secrets');
GRANT SELECT, INSERT, UPDATE (sealed) ON onboarding_secrets TO atrium_app;

CREATE TABLE onboarding_drafts (
  org_id uuid PRIMARY KEY REFERENCES orgs,
  revision uuid NOT NULL,
  document jsonb NOT NULL,
  saved_by uuid,
  saved_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, saved_by) REFERENCES users (org_id, id) ON DELETE SET NULL (saved_by)
);
CALL wall_off('onboarding_drafts');
GRANT SELECT, INSERT, UPDATE ON onboarding_drafts TO atrium_app;

-- A published version never changes; the one with the highest number is shown.
CREATE TABLE onboarding_versions (
  org_id uuid NOT NULL REFERENCES orgs,
  version int NOT NULL CHECK (version > 0),
  document jsonb NOT NULL,
  published_by uuid,
  published_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, version),
  FOREIGN KEY (org_id, published_by) REFERENCES users (org_id, id) ON DELETE SET NULL (published_by)
);
CALL wall_off('onboarding_versions');
GRANT SELECT, INSERT ON onboarding_versions TO atrium_app;

-- The foreign key to the bytes keeps them in the store.
CREATE TABLE onboarding_assets (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL REFERENCES orgs,
  kind text NOT NULL CHECK (kind IN ('logo', 'hero', 'font')),
  filename text NOT NULL,
  content_type text NOT NULL,
  size bigint NOT NULL,
  sha256 bytea NOT NULL,
  width int,
  height int,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (org_id, id),
  FOREIGN KEY (org_id, sha256) REFERENCES blobs (org_id, sha256)
);
CREATE INDEX onboarding_assets_of_blob ON onboarding_assets (org_id, sha256);
CALL wall_off('onboarding_assets');
GRANT SELECT, INSERT, DELETE ON onboarding_assets TO atrium_app;

-- A proof counts once; its network is a keyed digest, for counting how many sign up from there.
CREATE TABLE onboarding_proofs (
  digest bytea NOT NULL,
  org_id uuid NOT NULL REFERENCES orgs,
  network bytea NOT NULL,
  spent_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, digest)
);
CREATE INDEX onboarding_proofs_of_network ON onboarding_proofs (org_id, network, spent_at);
CREATE INDEX onboarding_proofs_by_age ON onboarding_proofs (org_id, spent_at);
CALL wall_off('onboarding_proofs');
GRANT SELECT, INSERT, DELETE ON onboarding_proofs TO atrium_app;

-- One row for a person, found by a keyed digest of their address. `words` is what a search looks through.
CREATE TABLE prospects (
  id uuid NOT NULL,
  org_id uuid NOT NULL REFERENCES orgs,
  address bytea NOT NULL,
  version int NOT NULL,
  fields jsonb NOT NULL,
  later jsonb NOT NULL DEFAULT '[]',
  words text NOT NULL,
  locale text NOT NULL,
  state text NOT NULL DEFAULT 'captured' CHECK (state IN ('captured', 'accepted', 'declined')),
  signals jsonb NOT NULL,
  gate text NOT NULL CHECK (gate IN ('pass', 'suspect')),
  judge text CHECK (judge IN ('promising', 'unsure', 'unfit')),
  judgement jsonb,
  submissions int NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  decided_by uuid,
  decided_at timestamptz,
  note text,
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, address),
  CHECK ((state = 'captured') = (decided_at IS NULL)),
  FOREIGN KEY (org_id, decided_by) REFERENCES users (org_id, id) ON DELETE SET NULL (decided_by)
);
CREATE INDEX prospects_of_state ON prospects (org_id, state, id);
CREATE INDEX prospects_declined ON prospects (org_id, decided_at) WHERE state = 'declined';
CALL wall_off('prospects');
GRANT SELECT, INSERT, UPDATE, DELETE ON prospects TO atrium_app;

-- How many came how far on each day; no person is in it.
CREATE TABLE onboarding_days (
  org_id uuid NOT NULL REFERENCES orgs,
  day date NOT NULL,
  opened bigint NOT NULL DEFAULT 0,
  started bigint NOT NULL DEFAULT 0,
  refused bigint NOT NULL DEFAULT 0,
  received bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org_id, day)
);
CALL wall_off('onboarding_days');
GRANT SELECT, INSERT, UPDATE ON onboarding_days TO atrium_app;
