// Written by `npm run generate` from the server's OpenAPI document. Do not edit.

/** A refusal (RFC 9457): people read `detail`, programs read `code`. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors?: FieldProblem[];
};

/** One field that was refused; a `code` says which rule it breaks, where there are several. */
export type FieldProblem = {
  path: string;
  message: string;
  code?: string;
};

/** Alive, and what kind of instance. */
export type Health = {
  ok: boolean;
  multitenant: boolean;
};

/** Able to answer. */
export type Ready = {
  ready: boolean;
};

/** What anybody may know before signing in. */
export type Config = {
  home: string;
  multitenant: boolean;
  needs_bootstrap: boolean;
  localization: LocalePolicy;
};

/** Which languages there are, whether people may switch, and whether a machine's drafts are shown before a person approves them. */
export type LocalePolicy = {
  default_locale: string;
  locales: string[];
  switching: boolean;
  serve_machine?: boolean;
};

/** A look as its viewers get it: `theme` holds the tokens that differ from the console's own, ready for a stylesheet. */
export type Branding = {
  title: string;
  tagline: string;
  logo: string | null;
  theme: Record<string, string>;
  own: boolean;
  revision: string;
};

/** A look as its editors get it: what is shown, and beside it what they themselves have set; null is inherited. */
export type EditableBranding = {
  title: string;
  tagline: string;
  logo: string | null;
  theme: Record<string, string>;
  own: boolean;
  revision: string;
  own_title: string | null;
  own_tagline: string | null;
  own_logo: boolean;
  own_theme: Record<string, string>;
  inherited: Inherited;
};

/** What shows wherever an editor sets nothing. */
export type Inherited = {
  title: string;
  tagline: string;
  theme: Record<string, string>;
};

/** Title, tagline and theme as a whole: what is absent or null is inherited. An absent logo stays, a null one goes. */
export type BrandingDraft = {
  title?: string | null;
  tagline?: string | null;
  theme?: {
    bg?: string;
    surface?: string;
    'surface-2'?: string;
    text?: string;
    'text-muted'?: string;
    border?: string;
    'border-strong'?: string;
    accent?: string;
    'on-accent'?: string;
    'accent-text'?: string;
    'accent-soft'?: string;
    focus?: string;
    success?: string;
    warning?: string;
    danger?: string;
    'on-danger'?: string;
    info?: string;
    'nav-bg'?: string;
    'nav-text'?: string;
    'nav-active'?: string;
    'nav-active-text'?: string;
    'chart-1'?: string;
    'chart-2'?: string;
    'chart-3'?: string;
    'chart-4'?: string;
    'chart-5'?: string;
    'chart-6'?: string;
    'dark-bg'?: string;
    'dark-surface'?: string;
    'dark-surface-2'?: string;
    'dark-text'?: string;
    'dark-text-muted'?: string;
    'dark-border'?: string;
    'dark-border-strong'?: string;
    'dark-accent'?: string;
    'dark-on-accent'?: string;
    'dark-accent-text'?: string;
    'dark-accent-soft'?: string;
    'dark-focus'?: string;
    'dark-success'?: string;
    'dark-warning'?: string;
    'dark-danger'?: string;
    'dark-on-danger'?: string;
    'dark-info'?: string;
    'dark-nav-bg'?: string;
    'dark-nav-text'?: string;
    'dark-nav-active'?: string;
    'dark-nav-active-text'?: string;
    'dark-chart-1'?: string;
    'dark-chart-2'?: string;
    'dark-chart-3'?: string;
    'dark-chart-4'?: string;
    'dark-chart-5'?: string;
    'dark-chart-6'?: string;
    radius?: string;
    font?: 'system' | 'inter' | 'serif' | 'rounded';
  } | null;
  logo?: string | null;
};

/** A PNG, JPEG or WebP image of at most 1 MiB: base64, or a data: URI. */
export type LogoUpload = {
  data: string;
};

/** The console's messages, complete: what the locale lacks comes from the locales behind it. */
export type Catalog = {
  locale: string;
  messages: Record<string, string>;
  tag?: string;
};

/** The language of people who have not chosen one, whether they may choose, and whether drafts by a machine are shown. */
export type LocaleChange = {
  default_locale: string;
  switching: boolean;
  serve_machine?: boolean | null;
};

/** Every locale of the instance, and the import that runs. */
export type Coverage = {
  items: LocaleCoverage[];
  importing?: ImportProgress | null;
};

/** How far a locale is; `total` is the sum of approved, machine, missing and stale. */
export type LocaleCoverage = {
  locale: string;
  total: number;
  approved: number;
  machine: number;
  missing: number;
  stale: number;
  pending: number;
  namespaces: NamespaceCoverage[];
};

/** How far the messages of one namespace are. */
export type NamespaceCoverage = {
  ns: string;
  total: number;
  approved: number;
  machine: number;
  missing: number;
  stale: number;
  pending: number;
};

/** How many of how many messages the import that runs has taken in; both are 0 until it has read the files. */
export type ImportProgress = {
  job: string;
  done: number;
  total: number;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_LocalMessage_ = {
  items: LocalMessage[];
  next_cursor?: string | null;
};

/** One message in one locale: its source, what is served, and what waits for a reviewer. */
export type LocalMessage = {
  id: string;
  locale: string;
  ns: string;
  key: string;
  source: string;
  about: string;
  max_length: number | null;
  screens: string[];
  arguments: Record<string, string>;
  text: string | null;
  status: 'approved' | 'machine' | 'missing' | 'stale';
  pending: PendingText | null;
  comment: string;
  machine: MachineDraft | null;
  problem: string | null;
  drafting: boolean;
  revision: number;
  updated_at: string;
  history?: FormerText[] | null;
};

/** A proposed text that waits for a reviewer. */
export type PendingText = {
  text: string;
  by: string | null;
  at: string;
  checks: TextCheck[];
};

/** Something about a proposed or drafted text: an error keeps it out, a warning travels with it. */
export type TextCheck = {
  code: string;
  level: 'error' | 'warning';
  message: string;
};

/** Which model made the text, when, and the warnings about it. */
export type MachineDraft = {
  model: string;
  at: string;
  checks: TextCheck[];
};

/** A text that a message had: what it was, whose, and who replaced it when. */
export type FormerText = {
  text: string;
  was: 'approved' | 'machine' | 'pending' | 'stale';
  by: string | null;
  at: string | null;
  replaced_by: string | null;
  replaced_at: string;
};

/** The job whose result is the report. */
export type QueuedImport = {
  job: string;
};

/** The catalogs on disk, of some locales or of all; or an object of a repository and the locale that it is in. */
export type ImportAsk = {
  locales?: string[] | null;
  dry_run?: boolean;
  object_id?: string | null;
  locale?: string | null;
};

/** What was written for a locale; with a `format` one object, else the files of its folder. */
export type ExportedLocale = {
  locale: string;
  strings: number;
  files: ExportedFile[];
};

/** A catalog file as it is now. */
export type ExportedFile = {
  name: string;
  strings: number;
  sha256: string;
};

/** The object that holds a locale in a file format. */
export type ExportedObject = {
  object_id: string;
  key: string;
  version: number;
};

/** A locale; with a format it becomes an object of the caller's team instead of files on the server's disk. */
export type ExportAsk = {
  locale: string;
  format?: 'arb' | 'json' | 'po' | 'xliff' | null;
};

/** Jobs that draft missing messages, at most 20 of them; `remaining` counts what is missing and was not queued. */
export type DraftBatch = {
  batch: string;
  jobs: string[];
  strings: number;
  remaining: number;
};

/** A locale, or one of its namespaces; with `continue` further jobs follow until nothing is missing. */
export type DraftAsk = {
  locale: string;
  ns?: string | null;
  continue?: boolean;
};

/** How many drafts of a machine were removed. */
export type Discarded = {
  locale: string;
  discarded: number;
};

/** A locale, or one of its namespaces. */
export type DiscardAsk = {
  locale: string;
  ns?: string | null;
};

/** A text for a message. */
export type TextDraft = {
  text: string;
};

/** Approve what waits, or send it back to its translator with a comment. */
export type ReviewAsk = {
  decision: 'approve' | 'send_back';
  comment?: string;
};

/** The public part of an experience, in one language. */
export type FunnelConfig = {
  locale: string;
  version: number;
  fields: FunnelField[];
  copy: Record<string, string>;
  theme: Record<string, string>;
  assets: Record<string, string>;
};

/** One field of the form, in the visitor's language. */
export type FunnelField = {
  name: string;
  type: 'checkbox' | 'consent' | 'email' | 'select' | 'text' | 'textarea' | 'url';
  label: string;
  help: string;
  required: boolean;
  max: number;
  options: FunnelOption[];
};

/** What to send when it is chosen, and what to show. */
export type FunnelOption = {
  value: string;
  label: string;
};

/** An experience as its editors get it: the draft, an older version, or (`seeded`) what is shown while there is no draft. */
export type FunnelExperience = {
  state: 'draft' | 'seeded' | 'version';
  experience: Record<string, unknown>;
  revision: string;
  published: PublishedVersion | null;
  versions: PublishedVersion[];
};

/** A version that was or is shown to visitors. */
export type PublishedVersion = {
  version: number;
  at: string;
  by: Author;
};

/** Who did it; both are null once the account is gone. */
export type Author = {
  id: string | null;
  username: string | null;
};

/** The job that judges made-up answers; its result is the verdict. */
export type JudgeTrial = {
  job: string;
};

/** The experience as a whole; `answers` only with `dry_run`. */
export type ExperienceDraft = {
  experience: Record<string, unknown>;
  answers?: Record<string, unknown> | null;
};

/** What visitors see from now on. */
export type FunnelPublication = {
  version: number;
  published_at: string;
};

/** A picture or a font of the form; anybody may fetch it at its URL. */
export type FunnelAsset = {
  id: string;
  kind: 'font' | 'hero' | 'logo';
  filename: string;
  content_type: string;
  size: number;
  sha256: string;
  width: number | null;
  height: number | null;
  created_at: string;
  url: string;
};

/** A picture (PNG, JPEG, WebP) or a font (WOFF2) of at most 2 MiB: base64, or a data: URI. */
export type FunnelUpload = {
  kind: 'font' | 'hero' | 'logo';
  data: string;
  filename?: string;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_FunnelAsset_ = {
  items: FunnelAsset[];
  next_cursor?: string | null;
};

/** A challenge of ALTCHA's version 2; every client of it solves this one. */
export type ProofChallenge = {
  parameters: ChallengeParameters;
  signature: string;
};

/** What to derive, as ALTCHA (version 2) names it. */
export type ChallengeParameters = {
  algorithm: string;
  cost: number;
  keyLength: number;
  keyPrefix: string;
  nonce: string;
  salt: string;
  keySignature: string;
  expiresAt: number;
  data: Record<string, unknown>;
};

/** The same for everybody: it never tells whether an address is known. */
export type Received = {
  status?: 'received';
};

/** The form's answers and the solved challenge: base64 of ALTCHA's payload. `hp` stays empty; `elapsed_ms` is how long it took. */
export type SignUp = {
  fields: Record<string, unknown>;
  proof: string;
  locale?: string | null;
  hp?: string;
  elapsed_ms?: number | null;
};

/** Prospects, newest first, and how many visitors came how far in the last 30 days. */
export type ProspectListing = {
  items: Prospect[];
  funnel: FunnelDay[];
  next_cursor?: string | null;
};

/** A person who signed up; `later` are answers that they sent again. */
export type Prospect = {
  id: string;
  fields: Record<string, unknown>;
  later: Record<string, unknown>[];
  locale: string;
  state: 'accepted' | 'captured' | 'declined';
  signals: Signal[];
  verdicts: ProspectVerdict[];
  submissions: number;
  created_at: string;
  decided: DecisionMade | null;
};

/** Something that the gate noticed about a sign-up; it refuses for none of these. */
export type Signal = {
  name: 'address_burst' | 'disposable_domain' | 'fast' | 'honeypot' | 'late_proof' | 'repeated';
  value: number | string;
};

/** What the gate or the judge says; without a verdict, `reasons` tell why there is none. */
export type ProspectVerdict = {
  by: 'gate' | 'judge';
  verdict: 'pass' | 'suspect' | 'promising' | 'unfit' | 'unsure' | null;
  score: number | null;
  reasons: string[];
  model: string | null;
  at: string;
};

/** Who decided what about a prospect. */
export type DecisionMade = {
  decision: 'accept' | 'decline';
  by: Author;
  at: string;
  note: string | null;
};

/** How many visitors came how far on one day (UTC). */
export type FunnelDay = {
  day: string;
  opened: number;
  started: number;
  refused: number;
  received: number;
};

/** A prospect that was decided about; the link is in the reply to the invitation, once. */
export type DecidedProspect = {
  id: string;
  fields: Record<string, unknown>;
  later: Record<string, unknown>[];
  locale: string;
  state: 'accepted' | 'captured' | 'declined';
  signals: Signal[];
  verdicts: ProspectVerdict[];
  submissions: number;
  created_at: string;
  decided: DecisionMade | null;
  activation_url?: string | null;
  activation_token?: string | null;
};

/** What becomes of a prospect; operators may invite one they accept. */
export type ProspectDecision = {
  decision: 'accept' | 'decline';
  note?: string | null;
  invite?: Invite | null;
  password?: string | null;
};

/** The company to found for an accepted prospect; the owner's username is their address unless it is given. */
export type Invite = {
  org: string;
  team?: string;
  username?: string | null;
};

/** The operator's session and what was created with it. */
export type FirstCompany = {
  token: string | null;
  user: Person;
  org: OrgPlace;
  team: Place;
};

/** A user as others see them. */
export type Person = {
  id: string;
  username: string;
  display_name: string;
};

/** A company, by name and slug. */
export type OrgPlace = {
  id: string;
  name: string;
  slug: string;
  suspended?: boolean;
};

/** A team or a company, by name. */
export type Place = {
  id: string;
  name: string;
};

/** The operator to be, and the names of the first company and team. */
export type FirstRun = {
  username: string;
  password: string;
  org: string;
  team: string;
};

/** The tenant's owner, and the link with which they take it over; the link works once. */
export type Provisioned = {
  owner: Person;
  activation_url: string;
  activation_token: string;
};

/** The tenant's owner and the names of its company and team. */
export type NewTenant = {
  username: string;
  org: string;
  team?: string;
};

/** A signed-in session; without its token when that went into a cookie. */
export type Session = {
  token: string | null;
  expires_at: string | null;
  user: Person;
  team: Place;
  token_type?: 'Bearer';
};

/** The link's token and the password to set. */
export type Activation = {
  token: string;
  password: string;
};

/** Whether the tenant may write. */
export type TenantState = {
  suspended: boolean;
};

/** The most of a dimension in a window, for a team or a company. */
export type Limit = {
  dimension: 'ai.concurrency' | 'ai.requests' | 'ai.tokens.total' | 'jobs.concurrency' | 'storage.bytes';
  limit: number | null;
  window: 'day' | 'hour' | 'minute' | 'month' | 'total';
  level?: 'org' | 'team';
};

/** A limit to set for a window; `limit: null` clears it. */
export type LimitChange = {
  dimension: 'ai.concurrency' | 'ai.requests' | 'ai.tokens.total' | 'jobs.concurrency' | 'storage.bytes';
  limit: number | null;
  window: 'day' | 'hour' | 'minute' | 'month' | 'total';
};

/** What a person signs in with; `code` is a one-time or a recovery code. */
export type Credentials = {
  username: string;
  password: string;
  code?: string | null;
};

/** The id of what is gone. */
export type Deleted = {
  id: string;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_OpenSession_ = {
  items: OpenSession[];
  next_cursor?: string | null;
};

/** A session, as its owner sees it. */
export type OpenSession = {
  id: string;
  current: boolean;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  user_agent: string;
  address: string;
  method: 'first' | 'passkey' | 'password' | 'sso';
};

/** How many sessions ended. */
export type EndedSessions = {
  ended: number;
};

/** A second factor just turned on; shown once. */
export type Enrolment = {
  secret: string;
  otpauth_uri: string;
  recovery_codes: string[];
};

/** The current password; with a bearer token not needed within ten minutes of signing in. */
export type Confirmation = {
  password?: string | null;
};

/** A fresh set, shown once. */
export type RecoveryCodes = {
  recovery_codes: string[];
};

/** How many are left. */
export type RecoveryCodeCount = {
  unspent: number;
};

/** What ended, which `tokens` and `s3_keys` still act for the person; a token when a first session was replaced. */
export type PasswordChanged = {
  sessions_ended: number;
  tokens_ended: number;
  s3_keys_ended: number;
  tokens: number;
  s3_keys: number;
  token?: string | null;
  expires_at?: string | null;
};

/** The new password, and the current one unless the sign-in is fresh; `end: "all"` ends tokens and S3 keys, too. */
export type PasswordChange = {
  new_password: string;
  password?: string | null;
  end?: 'all' | 'sessions';
};

/** Who the caller is and what they may do. */
export type Identity = {
  user: Person;
  team: Place;
  org: OrgPlace;
  role: Role;
  org_role: OrgRole | null;
  operator: boolean;
  locale: string;
  permissions: string[];
  idle_permissions: string[];
  features: string[];
  two_factor: boolean;
  credential: string;
};

/** What a person is in their team. */
export type Role = 'admin' | 'member' | 'owner' | 'reviewer' | 'translator' | 'viewer';

/** What a person is in their company. */
export type OrgRole = 'org_admin' | 'org_owner' | 'org_reader';

/** What to change; absent fields stay. */
export type ProfileChange = {
  display_name?: string | null;
  locale?: string | null;
};

/** The member and their first token, shown once: it ends when they set a password, or after 72 hours. */
export type AddedMember = {
  member: Member;
  token: string;
  expires_at: string | null;
};

/** A person in a team; `revision` in quotation marks is what If-Match compares. */
export type Member = {
  id: string;
  team_id: string;
  username: string;
  display_name: string;
  role: Role;
  org_role: OrgRole | null;
  two_factor: boolean;
  created_at: string;
  revision: string;
};

/** A person to add. */
export type NewMember = {
  username: string;
  role: Role;
  display_name?: string;
  password?: string | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Member_ = {
  items: Member[];
  next_cursor?: string | null;
};

/** The role from now on. */
export type RoleChange = {
  role: Role;
  password?: string | null;
};

/** Who has left, what others got of theirs, what is in the trash, and what no longer acts for them. */
export type RemovalReport = {
  id: string;
  notes: number;
  objects: number;
  trashed_notes: number;
  trashed_objects: number;
  tokens: number;
  s3_keys: number;
};

/** Who of the team gets what they shared, needed when there is anything, and what happens to private items. */
export type LeaveChoices = {
  transfer_to?: string | null;
  private?: 'transfer' | 'trash';
};

/** A link for hand delivery, with which its person chooses a new password, once. */
export type ResetLink = {
  url: string;
  expires_at: string;
};

/** The caller's own password; needed from a browser's session. */
export type ResetOffer = {
  password?: string | null;
};

/** The session after a reset, and which API tokens and S3 keys still act for the person. */
export type ResetSession = {
  token: string | null;
  expires_at: string | null;
  user: Person;
  team: Place;
  token_type?: 'Bearer';
  tokens?: number;
  s3_keys?: number;
};

/** The link's token, the new password, a code when two-factor is on; `end: "all"` ends tokens and S3 keys, too. */
export type Reset = {
  token: string;
  password: string;
  code?: string | null;
  end?: 'all' | 'sessions';
};

/** What an operator looks at first; `checks` are there when they were asked for. */
export type Status = {
  version: string;
  kdf: string;
  tls: boolean;
  multitenant: boolean;
  secrets_at_rest: string;
  schema_version: number;
  counts: Counts;
  failed_plugins: Record<string, string>;
  plans: string[];
  backup: Age | null;
  checks?: HealthCheck[];
};

/** How much the instance carries. */
export type Counts = {
  users: number;
  teams: number;
  orgs: number;
  notes: number;
  tokens: number;
  audit_events: number;
  tenants: number;
};

/** The newest backup, for those who look after the instance; `hours` is how often one is made, 0 when none is. */
export type Age = {
  hours: number;
  taken_at: string | null;
  verified_at: string | null;
  faults: number;
};

/** One thing the doctor looked at: what was found, and what to do about it unless all is well. */
export type HealthCheck = {
  name: 'address' | 'audit' | 'blobs' | 'clock' | 'connections' | 'database' | 'disk' | 'executors' | 'jobs' | 'key' | 'models' | 'plugins' | 'postgres_version' | 'role' | 'sandbox' | 'schema' | 'settings' | 'statistics' | 'transactions' | 'walls' | 'workers';
  verdict: 'fail' | 'ok' | 'warn';
  found: string;
  remedy: string;
};

/** A new company, its first team and its owner; `token` is the owner's first, when no password was given. */
export type FoundedCompany = {
  org: Company;
  team: Place;
  owner: Person;
  token?: string | null;
  expires_at?: string | null;
};

/** A company as operators list it; `proof` is what to publish while its hostname waits. */
export type Company = {
  id: string;
  slug: string;
  name: string;
  plan: string;
  domain: string | null;
  domain_verified: boolean;
  proof: DomainProof | null;
  suspended: boolean;
  suspended_at: string | null;
  created_at: string;
};

/** The TXT record that proves control of a hostname. */
export type DomainProof = {
  name: string;
  value: string;
};

/** A company to found; an explicit slug is a natural key. */
export type NewCompany = {
  name: string;
  owner: NewOwner;
  slug?: string | null;
  plan?: string;
  team?: string;
  password?: string | null;
};

/** The company's first person; without a password they get a first token. */
export type NewOwner = {
  username: string;
  password?: string | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Company_ = {
  items: Company[];
  next_cursor?: string | null;
};

/** A company as operators change it. */
export type CompanyRecord = {
  id: string;
  slug: string;
  name: string;
  plan: string;
  domain: string | null;
  domain_verified: boolean;
  proof: DomainProof | null;
  suspended: boolean;
  suspended_at: string | null;
  created_at: string;
  teams: Place[];
  quotas: Limit[];
  usage: Usage[];
};

/** One line of a usage report; what is counted while it lasts has no window, and `used` is what runs now.      `parts` says what `storage.bytes` is made of. `raised_from` is the limit that stood before it was raised, once, at `raised_at`,     because more was there than it allowed when that began to count. `limit_window` is what the limit of something without a window     was set for. `set_by` is left out where the caller may not know the person. `may_change`: whether the caller may set this limit. */
export type Usage = {
  level: 'org' | 'team';
  dimension: 'ai.concurrency' | 'ai.requests' | 'ai.tokens.total' | 'jobs.concurrency' | 'storage.bytes';
  window: 'day' | 'hour' | 'minute' | 'month' | 'total' | null;
  used: number;
  reserved: number;
  limit: number | null;
  remaining: number | null;
  resets_at: string | null;
  parts?: StorageParts | null;
  raised_from?: number | null;
  raised_at?: string | null;
  source?: 'default' | 'limit' | 'none' | 'plan';
  limit_window?: 'day' | 'hour' | 'minute' | 'month' | 'total' | null;
  set_by?: Setter | null;
  set_at?: string | null;
  may_change?: boolean;
};

/** How much of what is stored is files, notes with their versions, versions of workflows, and inputs and results of jobs and runs. */
export type StorageParts = {
  files: number;
  notes: number;
  workflows: number;
  jobs: number;
};

/** The person who set a limit. */
export type Setter = {
  id: string;
  name: string;
};

/** A company after a change; `kept_limits` were set by hand, so that a new plan left them as they are. */
export type ChangedCompany = {
  id: string;
  slug: string;
  name: string;
  plan: string;
  domain: string | null;
  domain_verified: boolean;
  proof: DomainProof | null;
  suspended: boolean;
  suspended_at: string | null;
  created_at: string;
  teams: Place[];
  quotas: Limit[];
  usage: Usage[];
  kept_limits: Limit[];
};

/** What to change; absent fields stay. `domain: null` clears; `waive_proof` takes the operator's word for it. */
export type CompanyChange = {
  name?: string | null;
  plan?: string | null;
  domain?: string | null;
  waive_proof?: boolean;
  password?: string | null;
};

/** A company with its teams, its limits, and what it has used of them. */
export type CompanyPage = {
  id: string;
  slug: string;
  name: string;
  plan: string;
  domain: string | null;
  domain_verified: boolean;
  proof: DomainProof | null;
  suspended: boolean;
  suspended_at: string | null;
  created_at: string;
  teams: Place[];
  quotas: Limit[];
  usage: Usage[];
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Team_ = {
  items: Team[];
  next_cursor?: string | null;
};

/** A team of a company. */
export type Team = {
  id: string;
  org_id: string;
  name: string;
  created_at: string;
};

/** A team to make. */
export type NewTeam = {
  name: string;
};

/** A person and their first token, shown once. */
export type AddedPerson = {
  member: Member;
  team: Place;
  token: string;
  expires_at: string | null;
};

/** A person to add; without a team, to the caller's own. */
export type NewPerson = {
  username: string;
  role?: Role;
  team_id?: string | null;
  org_role?: OrgRole | null;
  display_name?: string;
  password?: string | null;
};

/** A person's role in the company after the change. */
export type ChangedOrgRole = {
  id: string;
  org_role: OrgRole | null;
  revision: string;
};

/** The role in the company; null takes it away. */
export type OrgRoleChange = {
  org_role: OrgRole | null;
  password?: string | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_AuditEvent_ = {
  items: AuditEvent[];
  next_cursor?: string | null;
};

/** An audit event. `seq` is its place in the company's chain once sealed.      `name` is what the note or file that it is about is called today, for who may read that. `redacted` when facts are left out that are     words of something private. `opens`: whether the reader can open the note or file that it is about now; what is in the trash does not. */
export type AuditEvent = {
  id: string;
  at: string;
  kind: string;
  subject: string;
  facts: Record<string, unknown>;
  team_id: string;
  actor_id: string;
  actor: string | null;
  seq: number | null;
  name?: string | null;
  redacted?: boolean;
  opens?: boolean;
};

/** An executor just made; a pull worker's token appears here and never again. */
export type NewExecutor = {
  id: string;
  name: string;
  mode: 'local' | 'pull' | 'push';
  model: string | null;
  capabilities: string[];
  org_id: string | null;
  state: 'active' | 'retired';
  created_at: string;
  worker_token: string | null;
};

/** A machine for the caller's company. */
export type CompanyExecutorDraft = {
  name: string;
  mode: 'pull' | 'push';
  model?: string | null;
  url?: string | null;
  key?: string | null;
  capabilities?: string[];
  password?: string | null;
};

/** A note, and what the caller may do with it: `share_with`, `levels` and `expires` say what a share can be. */
export type NoteReply = {
  id: string;
  team_id: string;
  owner_id: string;
  title: string;
  body: string;
  visibility: 'private' | 'team';
  version: number;
  created_at: string;
  updated_at: string;
  updated_by: string;
  abilities: ('delete' | 'manage' | 'read' | 'write')[];
  share_with: ('org' | 'team' | 'user')[];
  levels: ('notes:delete' | 'notes:manage' | 'notes:read' | 'notes:write')[];
  expires: boolean;
};

/** A new note. */
export type NoteDraft = {
  title: string;
  body?: string;
  visibility?: 'private' | 'team';
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Note_ = {
  items: Note[];
  next_cursor?: string | null;
};

/** A note as its readers see it. */
export type Note = {
  id: string;
  team_id: string;
  owner_id: string;
  title: string;
  body: string;
  visibility: 'private' | 'team';
  version: number;
  created_at: string;
  updated_at: string;
  updated_by: string;
};

/** What to change; absent fields stay. */
export type NoteChange = {
  title?: string | null;
  body?: string | null;
  visibility?: 'private' | 'team' | null;
};

/** The id of the note that is gone. */
export type DeletedNote = {
  id: string;
};

/** What one person may do with a note; `permission` is null once withdrawn. */
export type NoteGrant = {
  note_id: string;
  user_id: string;
  permission: 'notes:delete' | 'notes:manage' | 'notes:read' | 'notes:write' | null;
  granted_by: string;
};

/** Whom to let in and how far; a null permission withdraws the share. */
export type NoteShareChange = {
  user_id: string;
  permission: 'notes:delete' | 'notes:manage' | 'notes:read' | 'notes:write' | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_NoteShare_ = {
  items: NoteShare[];
  next_cursor?: string | null;
};

/** A person a note is shared with, and how far. */
export type NoteShare = {
  user_id: string;
  username: string;
  display_name: string;
  permission: 'notes:delete' | 'notes:manage' | 'notes:read' | 'notes:write';
  granted_by: string;
  created_at: string;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_NoteVersion_ = {
  items: NoteVersion[];
  next_cursor?: string | null;
};

/** One save of a note; `size` and `sha256` are of its text in UTF-8, `name` is what a person called it. */
export type NoteVersion = {
  number: number;
  title: string;
  size: number;
  sha256: string;
  created_by: string;
  created_at: string;
  name: string | null;
};

/** One save of a note with its text. */
export type NoteText = {
  number: number;
  title: string;
  size: number;
  sha256: string;
  created_by: string;
  created_at: string;
  name: string | null;
  body: string;
};

/** What to call a version; null takes its name away. */
export type VersionNaming = {
  name: string | null;
};

/** Which version to bring back. */
export type VersionChoice = {
  version: number;
};

/** A document, and what the caller may do with it: `share_with`, `levels` and `expires` say what a grant can be. */
export type DocumentReply = {
  id: string;
  team_id: string;
  owner_id: string;
  key: string;
  title: string;
  visibility: 'private' | 'shared' | 'team';
  version: number;
  revision: number;
  created_at: string;
  updated_at: string;
  body: string;
  abilities: ('delete' | 'manage' | 'read' | 'write')[];
  share_with: ('org' | 'team' | 'user')[];
  levels: ('edit' | 'manage' | 'view')[];
  expires: boolean;
};

/** A new document. */
export type DocumentDraft = {
  title: string;
  body?: string;
  visibility?: 'private' | 'shared' | 'team';
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_DocumentCard_ = {
  items: DocumentCard[];
  next_cursor?: string | null;
};

/** A document without its body, as listings show it. */
export type DocumentCard = {
  id: string;
  team_id: string;
  owner_id: string;
  key: string;
  title: string;
  visibility: 'private' | 'shared' | 'team';
  version: number;
  revision: number;
  created_at: string;
  updated_at: string;
};

/** What to change; absent fields stay. */
export type DocumentChange = {
  title?: string | null;
  body?: string | null;
  visibility?: 'private' | 'shared' | 'team' | null;
};

/** The id of the document that is gone. */
export type DeletedDocument = {
  id: string;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_TrashItem_ = {
  items: TrashItem[];
  next_cursor?: string | null;
};

/** Something that was deleted; it is gone for good at `purge_at`. A document is an object, and an object tells its key. */
export type TrashItem = {
  id: string;
  kind: 'note' | 'object';
  title: string;
  key: string | null;
  size: number;
  deleted_by: string;
  deleted_at: string;
  purge_at: string;
};

/** What is back under its id; an object says at which key. */
export type Restored = {
  id: string;
  kind: 'note' | 'object';
  key?: string | null;
};

/** Where to; an object whose key is taken comes back under another one. */
export type RestoreChoice = {
  key?: string | null;
};

/** The id of what is gone for good. */
export type Purged = {
  id: string;
};

/** How much is gone for good. */
export type Emptied = {
  purged: number;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_ListedChange_ = {
  items: ListedChange[];
  next_cursor?: string | null;
};

/** A change to something that the caller can read now; `actor` is null when no person did it. */
export type ListedChange = {
  kind: 'document' | 'note' | 'object';
  id: string;
  action: 'changed' | 'created' | 'deleted' | 'gone' | 'moved' | 'restored' | 'shared' | 'visibility';
  version: number;
  by: string | null;
  at: string;
  title: string;
  actor: ChangeAuthor | null;
};

/** Who did it. */
export type ChangeAuthor = {
  id: string;
  name: string;
};

/** The words that came in, and what saying them back cost. */
export type Echo = {
  text: string;
  usage: Spent;
};

/** What a turn cost. */
export type Spent = {
  requests: number;
  tokens: number;
};

/** What to say back. */
export type EchoAsk = {
  prompt?: string;
};

/** A whole turn. */
export type ChatReply = {
  id: string;
  text: string;
  finish: 'content_filter' | 'length' | 'stop' | 'tool_calls' | 'stopped';
  usage: ShownUsage;
  executor: string;
  model: string | null;
  simulated: boolean;
  thinking?: string;
  parsed?: unknown;
  conversation?: string | null;
};

/** What a turn cost, in tokens; not `exact` when the model did not tell. */
export type ShownUsage = {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  exact: boolean;
};

/** One question to a model; `conversation` is `new` or the id of one, whose messages go before the prompt. */
export type ChatAsk = {
  prompt: string | (TextPart | ImagePart | FilePart)[];
  messages?: ChatMessage[];
  response_format?: ResponseFormat | null;
  max_tokens?: number;
  executor?: string | null;
  conversation?: string | null;
};

/** Words. */
export type TextPart = {
  type: 'text';
  text: string;
};

/** A picture. */
export type ImagePart = {
  type: 'image_url';
  image_url: ImageAddress;
};

/** Where a picture is: a `data:` URL of PNG, JPEG or WebP. */
export type ImageAddress = {
  url: string;
};

/** An object of the repository that the caller can read: a picture, or a document's text. */
export type FilePart = {
  type: 'file';
  object_id: string;
  version?: number | string | null;
};

/** Something said earlier. */
export type ChatMessage = {
  role: 'assistant' | 'system' | 'user';
  content: string | (TextPart | ImagePart | FilePart)[];
};

/** What the reply must be: text, any JSON object, or JSON of a schema. */
export type ResponseFormat = {
  type: 'json_object' | 'json_schema' | 'text';
  json_schema?: Record<string, unknown> | null;
};

/** A turn that was asked to stop, as it stands now. */
export type StoppedTurn = {
  id: string;
  state: 'failed' | 'finished' | 'interrupted' | 'running' | 'stopped';
  text: string;
  usage: ShownUsage | null;
};

/** One question to a model, or a turn to go on reading (`resume`) or to end (`stop`).      `on_disconnect` says what becomes of the turn when its last reader has left. */
export type StreamAsk = {
  prompt?: string | (TextPart | ImagePart | FilePart)[] | null;
  messages?: ChatMessage[];
  response_format?: ResponseFormat | null;
  max_tokens?: number;
  executor?: string | null;
  conversation?: string | null;
  on_disconnect?: 'finish' | 'stop';
  resume?: string | null;
  stop?: string | null;
};

/** A run, as far as it has come. `refusal` is the quota's, when that ended it. */
export type AgentReply = {
  id: string;
  text: string;
  stop: 'answer' | 'approval' | 'calls' | 'quota' | 'seconds' | 'steps' | 'stopped' | 'tokens';
  steps: Step[];
  tainted: boolean;
  approvals: Approval[];
  usage: ShownUsage;
  executor: string;
  model: string | null;
  simulated: boolean;
  parsed?: unknown;
  refusal?: Record<string, unknown> | null;
  conversation?: string | null;
};

/** A call of a tool, and what came of it. */
export type Step = {
  call: string;
  name: string;
  arguments: Record<string, unknown>;
  effect: 'egress' | 'read' | 'write';
  status: 'approved' | 'bad_arguments' | 'budget' | 'denied' | 'error' | 'needs_approval' | 'ok' | 'pending' | 'rejected' | 'running' | 'timeout' | 'unknown';
  result: string;
  artifact?: Record<string, unknown> | null;
};

/** A call that waits for a person: what it would do, and which words of others the model had read before it asked for it. */
export type Approval = {
  call: string;
  name: string;
  arguments: Record<string, unknown>;
  effect: 'egress' | 'read' | 'write';
  reason: string;
  words: Taint[];
  digest: string;
};

/** Where a run read what others may have written, and how that begins. */
export type Taint = {
  source: string;
  words: string;
};

/** A task for the agent, or a `run` to go on with and the `decisions` it waits for.      `tools` are those the model is given, every tool of the team when absent. With `stream` the reply is a stream of events. */
export type AgentAsk = {
  prompt?: string | (TextPart | ImagePart | FilePart)[] | null;
  messages?: ChatMessage[];
  response_format?: ResponseFormat | null;
  max_tokens?: number;
  executor?: string | null;
  conversation?: string | null;
  tools?: string[] | null;
  max_steps?: number;
  stream?: boolean;
  on_disconnect?: 'finish' | 'stop';
  run?: string | null;
  decisions?: Decision[] | null;
};

/** What a person decides about one call; `digest` says which call, exactly, they saw. */
export type Decision = {
  call: string;
  digest: string;
  approve: boolean;
  note?: string;
};

/** Messages in another language; a message with a problem is not among them. */
export type TranslatedCatalog = {
  target: string;
  messages: Record<string, string>;
  problems: Record<string, string>;
  usage: ShownUsage;
  simulated: boolean;
};

/** Messages of a program, or with none of them the instance's own, of a namespace or of all. */
export type CatalogAsk = {
  target: string;
  source?: string | null;
  messages?: Record<string, string> | null;
  namespace?: string | null;
};

/** A text in another language; `source` is `und` when it was not given and the model did not tell. */
export type Translation = {
  id: string;
  text: string;
  source: string;
  target: string;
  format: 'html' | 'icu' | 'markdown' | 'text';
  report: TranslationReport;
  usage: ShownUsage;
  model: string | null;
  simulated: boolean;
  created_at: string;
};

/** What became of a text: how many blocks it had, which of them stayed as they were, and how the glossary was followed. */
export type TranslationReport = {
  blocks: number;
  kept: KeptBlock[];
  glossary: GlossaryUse;
};

/** A block that stayed in the source language; `block` counts from 1, `excerpt` is how it begins. */
export type KeptBlock = {
  block: number;
  reason: 'empty' | 'marks' | 'no_text' | 'stray' | 'structure' | 'tag_order' | 'too_long' | 'long' | 'model' | 'quota' | 'reply' | 'time';
  excerpt: string;
};

/** How many terms of the glossary came out as wanted, and which did not. */
export type GlossaryUse = {
  used: number;
  missed: WantedTerm[];
};

/** A term of the glossary, and what the team wants it to be. */
export type WantedTerm = {
  term: string;
  wanted: string;
};

/** A text and the language it is wanted in; the source language may be left to the model. */
export type TranslationAsk = {
  text: string;
  target: string;
  source?: string | null;
  format?: 'html' | 'icu' | 'markdown' | 'text';
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_StoredTranslation_ = {
  items: StoredTranslation[];
  next_cursor?: string | null;
};

/** A translation of the caller's, with the text it was made from. */
export type StoredTranslation = {
  id: string;
  text: string;
  source: string;
  target: string;
  format: 'html' | 'icu' | 'markdown' | 'text';
  report: TranslationReport;
  usage: ShownUsage;
  model: string | null;
  simulated: boolean;
  created_at: string;
  original: string;
};

/** How a team wants a term translated into one language; a null `translation` keeps the term as it is. */
export type GlossaryTerm = {
  id: string;
  target: string;
  term: string;
  translation: string | null;
  note: string;
  case_sensitive: boolean;
  changed_by: string;
  changed_at: string;
};

/** A term and what it is in a language; a null `translation` keeps the term as it is, `remove` takes it out. */
export type TermAsk = {
  target: string;
  term: string;
  translation?: string | null;
  note?: string;
  case_sensitive?: boolean;
  remove?: boolean;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_GlossaryTerm_ = {
  items: GlossaryTerm[];
  next_cursor?: string | null;
};

/** What a chat would use now; asked about a conversation, also the turn that is open in it. */
export type ChatModel = {
  executor: string;
  mode: string;
  model: string | null;
  simulated: boolean;
  healthy: boolean | null;
  seen_at: string | null;
  turn?: OpenTurn | null;
};

/** A turn of the caller's in a conversation that is not over: it runs, waits for their decision, or broke off and may go on.      `question` is known of a run of the agent alone. */
export type OpenTurn = {
  id: string;
  state: 'interrupted' | 'running' | 'waiting';
  agent: boolean;
  question: string | (TextPart | ImagePart | FilePart)[] | null;
};

/** The executor each role uses, by name; null is the instance's default. */
export type ModelRoles = {
  roles: Record<string, string | null>;
  default: Record<string, string>;
};

/** Executors by role; null is the instance's default. */
export type RoleChoice = {
  roles: Record<string, string | null>;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Executor_ = {
  items: Executor[];
  next_cursor?: string | null;
};

/** A machine as those who may use it see it; `company` names the one it serves alone, `healthy` is None before the first probe. */
export type Executor = {
  id: string | null;
  name: string;
  mode: 'local' | 'pull' | 'push';
  model: string | null;
  capabilities: string[];
  org_id: string | null;
  company: string | null;
  state: 'active' | 'retired';
  healthy: boolean | null;
  last_seen_at: string | null;
  created_at: string | null;
};

/** A machine for everybody, or for one company. */
export type ExecutorDraft = {
  name: string;
  mode: 'pull' | 'push';
  model?: string | null;
  url?: string | null;
  key?: string | null;
  capabilities?: string[];
  password?: string | null;
  org_id?: string | null;
};

/** What is out of service. */
export type RetiredExecutor = {
  id: string;
};

/** A job under a lease; every later word about it carries the token. */
export type ClaimReply = {
  job: ClaimedJob;
  claim_token: string;
  lease_expires_at: string;
};

/** What a worker needs to do the work. */
export type ClaimedJob = {
  id: string;
  kind: string;
  input: unknown;
  attempt: number;
  model: string | null;
};

/** What the worker can do, and how many seconds it will wait for something to do. */
export type ClaimAsk = {
  kinds: string[];
  models?: string[];
  max_wait?: number;
};

/** The lease after a heartbeat, and whether anybody still wants the result. */
export type LeaseReply = {
  lease_expires_at: string;
  cancel_requested: boolean;
};

/** A sign of life; `said` is how the reply goes on, for those who follow it. */
export type Heartbeat = {
  claim_token?: string | null;
  said?: ReplyChunk | null;
};

/** Characters of the reply from a position on; what was heard before is ignored. */
export type ReplyChunk = {
  at: number;
  text: string;
};

/** Where the job stands now. */
export type SettledReply = {
  id: string;
  state: string;
};

/** A result; its kind may refuse it. */
export type Completion = {
  result: unknown;
  claim_token?: string | null;
};

/** Why it did not work. */
export type FailureReport = {
  error: string;
  claim_token?: string | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Usage_ = {
  items: Usage[];
  next_cursor?: string | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_ToolState_ = {
  items: ToolState[];
  next_cursor?: string | null;
};

/** A tool as one team has it.      `changed`: it was turned on as `pinned` says and is defined otherwise now, so that it is off until it is turned on again. */
export type ToolState = {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  permission: string;
  source: string;
  effect: 'egress' | 'read' | 'write';
  untrusted: boolean;
  enabled: boolean;
  digest?: string | null;
  changed?: boolean;
  pinned?: Record<string, unknown> | null;
  switched_by?: string | null;
  switched_at?: string | null;
};

/** On or off; with `digest`, only while another server's tool is defined as it was when it was looked at. */
export type ToolSwitch = {
  enabled: boolean;
  digest?: string | null;
};

/** A new API token, its secret shown once. */
export type IssuedToken = {
  id: string;
  token: string;
  name: string;
  scope: string[] | null;
  created_at: string;
  expires_at: string | null;
};

/** A name to recognise it by, what it may do, how long it lives (seconds, or `never`). */
export type NewToken = {
  name: string;
  scope?: string[] | null;
  ttl?: number | 'never';
  password?: string | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Token_ = {
  items: Token[];
  next_cursor?: string | null;
};

/** An API token without its secret. */
export type Token = {
  id: string;
  name: string;
  user_id: string;
  username: string;
  scope: string[] | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
};

/** The id of the token, and what it gave, newest first: members, roles and credentials, which stay. At most 200; the trail has all. */
export type RevokedToken = {
  id: string;
  gave?: Given[];
};

/** What an API token gave, as the audit trail tells it: who or what has it (`subject`, and by which `name`), and a role, if it is one.      `role` is one in a team and `org_role` one in the company; both are empty where a role in the company was taken away. */
export type Given = {
  at: string;
  kind: string;
  subject: string;
  name: string;
  role: string | null;
  org_role: string | null;
};

/** What was found, best first. `relaxed` says that some of it has not every word, `cut` that the search did not look at everything. */
export type SearchResults = {
  items: SearchHit[];
  next_cursor: string | null;
  relaxed: boolean;
  cut: boolean;
  took_ms: number;
};

/** Something that was found. `marks` are the places in `snippet` that matched, from the first character to behind the last. */
export type SearchHit = {
  kind: 'document' | 'entity' | 'note' | 'object';
  id: string;
  title: string;
  snippet: string;
  marks: ([number, number])[];
  team: TeamName;
  updated_at: string;
  score: number;
  matched: ('key' | 'meaning' | 'name' | 'text' | 'title')[];
  key?: string | null;
  content_type?: string | null;
  type?: string | null;
  visibility?: string | null;
};

/** The team that something belongs to. */
export type TeamName = {
  id: string;
  name: string;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Feature_ = {
  items: Feature[];
  next_cursor?: string | null;
};

/** A flag as one team has it. */
export type Feature = {
  name: string;
  enabled: boolean;
};

/** On or off. */
export type FeatureSwitch = {
  enabled: boolean;
};

/** How much was made. */
export type Seeded = {
  notes: number;
  documents: number;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_PluginCard_ = {
  items: PluginCard[];
  next_cursor?: string | null;
};

/** A loaded plugin and what it brought. */
export type PluginCard = {
  id: string;
  name: string;
  version: string;
  description: string;
  tools: string[];
  workflows: string[];
  routes: string[];
  job_kinds: string[];
  bundles: string[];
  page: Record<string, string> | null;
  onboarding: boolean;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_McpServerState_ = {
  items: McpServerState[];
  next_cursor?: string | null;
};

/** A server whose tools the caller's company may turn on, as the process that answers sees it. */
export type McpServerState = {
  name: string;
  transport: 'http' | 'stdio';
  state: 'connected' | 'connecting' | 'failed';
  protocol: string | null;
  tools: string[];
  left_out: LeftOut[];
  error: string | null;
  seen_at: string | null;
};

/** A tool of a server that is not offered, and why. */
export type LeftOut = {
  tool: string;
  reason: string;
};

/** Every guest. */
export type GuestPage = {
  items: GuestCard[];
  next_cursor?: string | null;
  sandbox: SandboxCard;
};

/** A guest as the caller's company has it. */
export type GuestCard = {
  id: string;
  name: string;
  version: string;
  state: 'failed' | 'ready' | 'running' | 'unavailable';
  tools: string[];
  capabilities: ('ai.turn' | 'documents.read' | 'files.read' | 'notes.read' | 'notes.write' | 'search')[];
  granted: ('ai.turn' | 'documents.read' | 'files.read' | 'notes.read' | 'notes.write' | 'search')[];
  restarts: number;
  error?: string | null;
};

/** Whether guests can be started here, and if not, why. */
export type SandboxCard = {
  available: boolean;
  reason?: string | null;
};

/** A job with what it was given and what came out; both are for its owner and the team's admins. */
export type Job = {
  id: string;
  kind: string;
  model: string | null;
  user_id: string;
  state: 'cancelled' | 'failed' | 'queued' | 'running' | 'succeeded';
  waiting_reason: 'no_worker' | 'org_suspended' | 'quota' | 'scheduled' | 'team_cap' | null;
  priority: number;
  attempt: number;
  max_attempts: number;
  cancel_requested: boolean;
  created_at: string;
  run_at: string;
  started_at: string | null;
  finished_at: string | null;
  error: JobError | null;
  input: unknown;
  result: unknown;
};

/** Why a job failed: `title` is the code's own sentence; `message` may hold values, and is the title where they are left out. */
export type JobError = {
  code: string;
  title: string;
  message: string;
  redacted?: boolean;
};

/** A job to queue: what the kind needs, and when; a higher priority goes first among the team's own. */
export type JobDraft = {
  kind: string;
  input?: Record<string, unknown>;
  model?: string | null;
  run_at?: string | null;
  priority?: number;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_JobSummary_ = {
  items: JobSummary[];
  next_cursor?: string | null;
};

/** A job as listings show it: where it stands, not what it is about. */
export type JobSummary = {
  id: string;
  kind: string;
  model: string | null;
  user_id: string;
  state: 'cancelled' | 'failed' | 'queued' | 'running' | 'succeeded';
  waiting_reason: 'no_worker' | 'org_suspended' | 'quota' | 'scheduled' | 'team_cap' | null;
  priority: number;
  attempt: number;
  max_attempts: number;
  cancel_requested: boolean;
  created_at: string;
  run_at: string;
  started_at: string | null;
  finished_at: string | null;
  error: JobError | null;
};

/** A page of a listing; `prefixes` is filled when a delimiter was asked for. */
export type Listing = {
  items: StoredObject[];
  prefixes: string[];
  next_cursor?: string | null;
};

/** An object with its current version. */
export type StoredObject = {
  id: string;
  team_id: string;
  owner_id: string;
  key: string;
  visibility: 'private' | 'shared' | 'team';
  revision: number;
  created_at: string;
  updated_at: string;
  filename: string;
  content_type: string;
  size: number;
  version: Version;
};

/** One state of an object. `etag` is of its bytes; a `deleted` one has none and says that the key was deleted. */
export type Version = {
  id: string;
  number: number;
  sha256: string | null;
  size: number;
  etag: string;
  content_type: string;
  filename: string;
  metadata: Record<string, string>;
  deleted: boolean;
  created_by: string;
  created_at: string;
};

/** An object, and what the caller may do with it: `share_with`, `levels` and `expires` say what a grant can be. */
export type ObjectReply = {
  id: string;
  team_id: string;
  owner_id: string;
  key: string;
  visibility: 'private' | 'shared' | 'team';
  revision: number;
  created_at: string;
  updated_at: string;
  filename: string;
  content_type: string;
  size: number;
  version: Version;
  abilities: ('delete' | 'manage' | 'read' | 'write')[];
  share_with: ('org' | 'team' | 'user')[];
  levels: ('edit' | 'manage' | 'view')[];
  expires: boolean;
};

/** The same with the latest versions and the text. */
export type ObjectDetail = {
  id: string;
  team_id: string;
  owner_id: string;
  key: string;
  visibility: 'private' | 'shared' | 'team';
  revision: number;
  created_at: string;
  updated_at: string;
  filename: string;
  content_type: string;
  size: number;
  version: Version;
  abilities: ('delete' | 'manage' | 'read' | 'write')[];
  share_with: ('org' | 'team' | 'user')[];
  levels: ('edit' | 'manage' | 'view')[];
  expires: boolean;
  versions: Version[];
  version_count: number;
  text: Text;
  permissions: string[];
};

/** What could be read out of a version; `none` when its type has no text. */
export type Text = {
  state: 'done' | 'failed' | 'none' | 'running' | 'waiting';
  text?: string;
  characters?: number;
  truncated?: boolean;
  problem?: string | null;
};

/** The id of the object that is gone. */
export type DeletedObject = {
  id: string;
};

/** A link that needs no credential until it expires or its key is revoked. */
export type Presigned = {
  url: string;
  expires_at: string;
};

/** For how many seconds the link works, and what for. */
export type LinkDraft = {
  expires_in?: number;
  method?: 'GET' | 'PUT';
  password?: string | null;
};

/** What one principal may do with an object, and until when. */
export type ObjectGrant = {
  principal_type: 'org' | 'team' | 'user';
  principal_id: string;
  name: string | null;
  capability: 'edit' | 'manage' | 'view';
  permissions: string[];
  granted_by: string;
  expires_at: string | null;
  expired: boolean;
  created_at: string;
};

/** Whom to let in and how far; `user_id` alone means that this person may view. */
export type ObjectShare = {
  principal_type?: 'org' | 'team' | 'user' | null;
  principal_id?: string | null;
  user_id?: string | null;
  capability?: 'edit' | 'manage' | 'view';
  expires_at?: string | null;
};

/** How many grants ended. */
export type Unshared = {
  id: string;
  revoked: number;
};

/** Whom to shut out. */
export type ObjectUnshare = {
  principal_type?: 'org' | 'team' | 'user' | null;
  principal_id?: string | null;
  user_id?: string | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_ObjectGrant_ = {
  items: ObjectGrant[];
  next_cursor?: string | null;
};

/** The object as it is now, and how many grants the change ended. */
export type ChangedVisibility = {
  id: string;
  team_id: string;
  owner_id: string;
  key: string;
  visibility: 'private' | 'shared' | 'team';
  revision: number;
  created_at: string;
  updated_at: string;
  filename: string;
  content_type: string;
  size: number;
  version: Version;
  abilities: ('delete' | 'manage' | 'read' | 'write')[];
  share_with: ('org' | 'team' | 'user')[];
  levels: ('edit' | 'manage' | 'view')[];
  expires: boolean;
  revoked: number;
};

/** Who sees the object besides its owner. */
export type VisibilityChange = {
  visibility: 'private' | 'shared' | 'team';
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Derivation_ = {
  items: Derivation[];
  next_cursor?: string | null;
};

/** One thread of provenance, seen from either end. */
export type Derivation = {
  object_id: string;
  version_id: string;
  key: string;
  source_id: string;
  source_version_id: string;
  source_key: string;
  run_id: string | null;
  step: string | null;
  at: string;
};

/** What was made from an object, what it was made from, and the runs that touched it, newest first. */
export type StepProgress = {
  derived: Derivation[];
  sources: Derivation[];
  runs: string[];
};

/** The key that an object gets. */
export type Destination = {
  key: string;
};

/** What became of each. */
export type BatchResult = {
  done: string[];
  failed: BatchFailure[];
};

/** Why one of them was refused. */
export type BatchFailure = {
  id: string;
  code: string;
  detail: string;
};

/** What to do with which objects; `move` takes `ids` into the folder `to`, or the whole folder `from` to `to`. */
export type ObjectBatch = {
  op: 'delete' | 'move' | 'visibility';
  ids?: string[] | null;
  from?: string | null;
  to?: string | null;
  visibility?: 'private' | 'shared' | 'team' | null;
};

/** The team's people, the company's teams, and the company itself. */
export type ShareTargets = {
  people: Target[];
  teams: Target[];
  org: Target;
};

/** A principal that an object can be shared with. */
export type Target = {
  principal_type: 'org' | 'team' | 'user';
  principal_id: string;
  name: string;
};

/** The caller's key pairs, newest first, and where to use them. */
export type AccessKeys = {
  items: AccessKey[];
  endpoint: string;
  bucket: string;
  region: string;
};

/** A key pair without its secret, which is shown once; no `scope` means all that its owner may do, no `prefix` every key. */
export type AccessKey = {
  id: string;
  access_key_id: string;
  name: string;
  scope: string[] | null;
  prefix: string | null;
  created_at: string;
  last_used_at: string | null;
};

/** A fresh key pair with its secret, and where to use it. */
export type IssuedKey = {
  id: string;
  access_key_id: string;
  secret_access_key: string;
  name: string;
  scope: string[] | null;
  prefix: string | null;
  endpoint: string;
  bucket: string;
  region: string;
};

/** A name to tell keys apart, what the key may be used for, and below which prefix; everything the caller may, when not given. */
export type AccessKeyDraft = {
  name?: string;
  scope?: string[] | null;
  prefix?: string | null;
  password?: string | null;
};

/** The id of the access key that is gone. */
export type RevokedKey = {
  id: string;
};

/** One version of a workflow, with its spec. */
export type Definition = {
  slug: string;
  version: number;
  title: string;
  description: string;
  source: string;
  inputs: Record<string, Input>;
  spec: Record<string, unknown>;
  created_by: string | null;
  created_at: string;
};

/** One declared input of a run; required unless marked optional. */
export type Input = {
  type: 'array' | 'boolean' | 'integer' | 'number' | 'object' | 'string';
  description?: string;
  optional?: boolean;
};

/** A spec that could be published, and how many steps the longest way through it takes, items of maps not counted. */
export type CheckedSpec = {
  longest_path: number;
  valid?: boolean;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_WorkflowSummary_ = {
  items: WorkflowSummary[];
  next_cursor?: string | null;
};

/** A workflow as listings show it; `steps` says how many it has. */
export type WorkflowSummary = {
  slug: string;
  version: number;
  title: string;
  description: string;
  source: string;
  inputs: Record<string, Input>;
  steps: number;
  last_run?: LastRun | null;
};

/** The newest run of a workflow. */
export type LastRun = {
  outcome: 'cancelled' | 'done' | 'done_with_failures' | 'failed' | 'running' | 'waiting';
  failed_items: number;
  waiting: Waiting | null;
  id: string;
  state: 'cancelled' | 'failed' | 'running' | 'succeeded';
  created_at: string;
};

/** Why nothing of a run or step goes on, and since when; of a limit which one, as it was when it was last reached. */
export type Waiting = {
  reason: 'no_worker' | 'org_suspended' | 'quota' | 'scheduled' | 'team_cap' | 'turn';
  since: string;
  dimension?: string | null;
  window?: string | null;
  level?: string | null;
  limit?: number | null;
  used?: number | null;
  resets_at?: string | null;
};

/** What a spec may say: kinds of steps, predicates of choices and references of bindings, each with its meaning. */
export type Format = {
  format: number;
  step_kinds: string[];
  predicates: Record<string, string>;
  references: Record<string, string>;
  retry: RetryRule;
  json_schema: Record<string, unknown>;
};

/** How often a step may be tried again, and how long before each time. */
export type RetryRule = {
  maximum: number;
  backoff_seconds: number[];
};

/** One version with the newest ones beside it, and what the plugin has brought since the team replaced its workflow.      `digest` stands for exactly this version; `accepted` says whether the caller has accepted it as another person's. */
export type DefinitionHistory = {
  slug: string;
  version: number;
  title: string;
  description: string;
  source: string;
  inputs: Record<string, Input>;
  spec: Record<string, unknown>;
  created_by: string | null;
  created_at: string;
  versions: WorkflowPublication[];
  upstream?: Upstream | null;
  digest: string;
  reach: Reach;
  accepted: boolean;
};

/** That a version was published, by whom and when; without a person when it came with a plugin. */
export type WorkflowPublication = {
  version: number;
  created_by: string | null;
  created_at: string;
};

/** A newer spec of the plugin whose workflow the team has replaced by its own. */
export type Upstream = {
  version: number;
};

/** What the steps of a version may do, as its spec says; `egress` where one may send something to another server. */
export type Reach = {
  tools: ToolReach[];
  egress: boolean;
};

/** A tool that a version names; what it does and which permission it takes is null where there is no such tool now. */
export type ToolReach = {
  name: string;
  effect: 'egress' | 'read' | 'write' | null;
  permission: string | null;
};

/** A run with its steps; `redacted` means that values are left out because the reader may not see them. */
export type Run = {
  id: string;
  workflow: WorkflowName;
  state: 'cancelled' | 'failed' | 'running' | 'succeeded';
  error: RunError | null;
  started_by: Starter;
  trigger_id: string | null;
  resumed_from: ResumedFrom | null;
  steps_used: number;
  max_steps: number;
  depth: number;
  created_at: string;
  finished_at: string | null;
  title: string;
  outcome: 'cancelled' | 'done' | 'done_with_failures' | 'failed' | 'running' | 'waiting';
  failed_items: number;
  waiting: Waiting | null;
  input: unknown;
  output: unknown;
  redacted: boolean;
  steps: WorkflowStep[];
};

/** Which version of which workflow. */
export type WorkflowName = {
  slug: string;
  version: number;
};

/** Why a run failed, and at which step. */
export type RunError = {
  code: string;
  title?: string;
  message: string;
  redacted?: boolean;
  step?: string | null;
};

/** Who started a run. */
export type Starter = {
  user_id: string;
  username: string;
};

/** The run whose outputs were taken over, and the step that this one began with. */
export type ResumedFrom = {
  run_id: string;
  step: string;
};

/** A step of a run. One that an ended run did not come to is `skipped`; one that a run has not come to yet is not there. */
export type WorkflowStep = {
  name: string;
  kind: 'choice' | 'map' | 'tool';
  tool: string | null;
  state: 'cancelled' | 'failed' | 'queued' | 'running' | 'skipped' | 'succeeded';
  index?: number | null;
  attempt?: number;
  job_id?: string | null;
  waiting_reason?: string | null;
  waiting?: Waiting | null;
  counts?: ItemCounts | null;
  input?: unknown;
  output?: unknown;
  error?: StepError | null;
  attempts?: StepAttempt[];
  items?: MapItem[] | null;
  next_cursor?: string | null;
  reused_from?: string | null;
  usage?: Record<string, number>;
  omitted?: boolean;
  started_at?: string | null;
  finished_at?: string | null;
};

/** How many items of a map stand how; together they are `total`. */
export type ItemCounts = {
  total: number;
  succeeded: number;
  failed: number;
  cancelled: number;
  waiting: number;
  running: number;
};

/** Why a step failed: `title` is the code's own sentence; `message` may hold values, and is the title where they are left out. */
export type StepError = {
  code: string;
  title?: string;
  message: string;
  redacted?: boolean;
};

/** One attempt at a step. */
export type StepAttempt = {
  attempt: number;
  job_id: string | null;
  state: 'cancelled' | 'failed' | 'queued' | 'running' | 'skipped' | 'succeeded';
  error?: StepError | null;
  started_at?: string | null;
  finished_at?: string | null;
};

/** One item of a map and what came of it; `label` is what people call it, null where the reader may not know. */
export type MapItem = {
  index: number;
  item: unknown;
  label?: string | null;
  ref?: ArtifactRef | null;
  state: 'cancelled' | 'failed' | 'queued' | 'running' | 'skipped' | 'succeeded';
  attempt: number;
  job_id: string | null;
  result?: unknown;
  error?: StepError | null;
  reused_from?: string | null;
  waiting_reason?: string | null;
  omitted?: boolean;
};

/** What is opened from an artifact's card. */
export type ArtifactRef = {
  kind: 'document' | 'entity' | 'note' | 'object' | 'run';
  id: string;
};

/** A run to start: its input, and a version other than the newest; or an ended run to go on with.      `accept` says that the starter has seen what this version may do. */
export type RunDraft = {
  input?: Record<string, unknown> | null;
  version?: number | null;
  resume?: Resume | null;
  accept?: string | null;
};

/** Begin a new run where an ended one shall go on; of a map only what did not succeed, or all its items. */
export type Resume = {
  run_id: string;
  step: string;
  items?: 'all' | 'failed';
};

/** A page of triggers, and what models may still cost. */
export type TriggerListing = {
  items: Trigger[];
  next_cursor: string | null;
  budget: Budget[];
};

/** A trigger, with the newest entry of its history; each count is of the last 24 hours and ends at 1,000.      `allow_egress` says whether its runs may send something elsewhere with the workflow's newest version. */
export type Trigger = {
  workflow_slug: string;
  name?: string;
  match_prefix?: string;
  match_types?: string[];
  input?: Record<string, unknown>;
  fire_on_derived?: boolean;
  enabled?: boolean;
  id: string;
  created_by: string | null;
  created_at: string;
  maker_id: string | null;
  egress_digest?: string | null;
  allow_egress?: boolean;
  last_fire?: Fire | null;
  fired_24h?: number;
  skipped_24h?: number;
};

/** What became of a version that matched; `object_id` and `key` are null where the reader cannot read the object. */
export type Fire = {
  id: string;
  at: string;
  object_id: string | null;
  key: string | null;
  version: FiredVersion;
  outcome: 'fired' | 'skipped';
  reason: 'bad_input' | 'depth' | 'derived' | 'disabled' | 'feature_off' | 'loop' | 'maker_gone' | 'maker_lost' | 'no_permission' | 'publisher_gone' | 'publisher_lost' | 'storm' | 'suspended' | 'too_many' | 'workflow_missing' | null;
  run_id: string | null;
  run_state: 'cancelled' | 'failed' | 'running' | 'succeeded' | null;
  standing?: RunStanding | null;
  by: Starter | null;
};

/** A version that matched a trigger. */
export type FiredVersion = {
  id: string;
  number: number;
};

/** How a run stands: `outcome` in a word, how many items of its maps failed, and what it waits for where nothing of it goes on. */
export type RunStanding = {
  outcome: 'cancelled' | 'done' | 'done_with_failures' | 'failed' | 'running' | 'waiting';
  failed_items: number;
  waiting: Waiting | null;
};

/** How much of what models cost the team, or its company, has left in a window. */
export type Budget = {
  dimension: 'ai.concurrency' | 'ai.requests' | 'ai.tokens.total' | 'jobs.concurrency' | 'storage.bytes';
  window: 'day' | 'hour' | 'minute' | 'month' | 'total' | null;
  limit: number | null;
  used: number;
  remaining: number | null;
  resets_at: string | null;
  level: 'org' | 'team';
};

/** What a trigger would have done: of so many versions, these match it. */
export type Rehearsal = {
  checked: number;
  would_fire: number;
  items: RehearsedFire[];
};

/** What a trigger would do with a version that is there, and what its run would be given. */
export type RehearsedFire = {
  object_id: string;
  key: string;
  version: FiredVersion;
  would: boolean;
  reason: 'bad_input' | 'depth' | 'derived' | 'disabled' | 'feature_off' | 'loop' | 'maker_gone' | 'maker_lost' | 'no_permission' | 'publisher_gone' | 'publisher_lost' | 'storm' | 'suspended' | 'too_many' | 'workflow_missing' | null;
  input: Record<string, unknown> | null;
};

/** Which versions start which workflow, and with what. */
export type NewTrigger = {
  workflow_slug: string;
  name?: string;
  match_prefix?: string;
  match_types?: string[];
  input?: Record<string, unknown>;
  fire_on_derived?: boolean;
  enabled?: boolean;
  allow_egress?: boolean;
};

/** A trigger with its history, newest first. */
export type TriggerDetail = {
  workflow_slug: string;
  name?: string;
  match_prefix?: string;
  match_types?: string[];
  input?: Record<string, unknown>;
  fire_on_derived?: boolean;
  enabled?: boolean;
  id: string;
  created_by: string | null;
  created_at: string;
  maker_id: string | null;
  egress_digest?: string | null;
  allow_egress?: boolean;
  last_fire?: Fire | null;
  fired_24h?: number;
  skipped_24h?: number;
  fires: Page_Fire_;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Fire_ = {
  items: Fire[];
  next_cursor?: string | null;
};

/** What to change; absent fields stay, and none can be null. */
export type TriggerChange = {
  workflow_slug?: string;
  name?: string;
  match_prefix?: string;
  match_types?: string[];
  input?: Record<string, unknown>;
  fire_on_derived?: boolean;
  enabled?: boolean;
  allow_egress?: boolean;
};

/** The id of the trigger that is gone. */
export type DeletedTrigger = {
  id: string;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_RunSummary_ = {
  items: RunSummary[];
  next_cursor?: string | null;
};

/** A run as listings show it: also how it stands; `title` is what its workflow is called in the version that ran. */
export type RunSummary = {
  id: string;
  workflow: WorkflowName;
  state: 'cancelled' | 'failed' | 'running' | 'succeeded';
  error: RunError | null;
  started_by: Starter;
  trigger_id: string | null;
  resumed_from: ResumedFrom | null;
  steps_used: number;
  max_steps: number;
  depth: number;
  created_at: string;
  finished_at: string | null;
  title: string;
  outcome: 'cancelled' | 'done' | 'done_with_failures' | 'failed' | 'running' | 'waiting';
  failed_items: number;
  waiting: Waiting | null;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Entity_ = {
  items: Entity[];
  next_cursor?: string | null;
};

/** An entity as the documents show it that the caller can read: its commonest name, the other spellings, and counts. */
export type Entity = {
  id: string;
  type: 'concept' | 'document' | 'event' | 'organisation' | 'person' | 'place' | 'product' | 'project';
  name: string;
  aliases: string[];
  mentions: number;
  documents: number;
  relations: number;
};

/** An entity with its mentions, its relations and what was merged into it. */
export type EntityDetail = {
  id: string;
  type: 'concept' | 'document' | 'event' | 'organisation' | 'person' | 'place' | 'product' | 'project';
  name: string;
  aliases: string[];
  documents: number;
  mentions: Page_ShownMention_;
  relations: Relation[];
  merged: MergeResult[];
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_ShownMention_ = {
  items: ShownMention[];
  next_cursor?: string | null;
};

/** One mention; `at` is its place, in characters of the document's text. */
export type ShownMention = {
  object_id: string;
  key: string;
  version: VersionRead;
  quote: string;
  at: number;
};

/** Which version of an object. */
export type VersionRead = {
  id: string;
  number: number;
};

/** How an entity is related to another; `direction` is `out` when it is the one that acts. */
export type Relation = {
  id: string;
  type: string;
  direction: 'in' | 'out';
  entity: NamedEntity;
  documents: number;
  evidence: ShownEvidence[];
};

/** Which entity, by name. */
export type NamedEntity = {
  id: string;
  type: 'concept' | 'document' | 'event' | 'organisation' | 'person' | 'place' | 'product' | 'project';
  name: string;
};

/** Where a document tells of a relation. */
export type ShownEvidence = {
  object_id: string;
  quote: string;
};

/** An entity that was merged into this one; `id` is the merge's, by which it can be undone. */
export type MergeResult = {
  id: string;
  name: string;
  type: 'concept' | 'document' | 'event' | 'organisation' | 'person' | 'place' | 'product' | 'project';
  by: Starter | null;
  at: string;
};

/** Some of many, `limit` at most; where to go on, when there are more. */
export type Page_Unread_ = {
  items: Unread[];
  next_cursor?: string | null;
};

/** A document that was not read in its current version, and why. */
export type Unread = {
  object_id: string;
  key: string;
  version: VersionRead;
  reason: 'changed' | 'new' | 'no_text' | 'not_writable' | 'refused' | 'text_waiting' | 'waits';
};

/** What was counted. */
export type example_tools_Counts = {
  words: number;
  characters: number;
  lines: number;
};

/** What is counted. */
export type example_tools_Text = {
  text: string;
};

/** How long a lane takes. */
export type integrator_demo_Eta = {
  lane: string;
  days: number;
};

/** Which lane. */
export type integrator_demo_Lane = {
  lane: string;
};

export interface Schemas {
  Problem: Problem;
  FieldProblem: FieldProblem;
  Health: Health;
  Ready: Ready;
  Config: Config;
  LocalePolicy: LocalePolicy;
  Branding: Branding;
  EditableBranding: EditableBranding;
  Inherited: Inherited;
  BrandingDraft: BrandingDraft;
  LogoUpload: LogoUpload;
  Catalog: Catalog;
  LocaleChange: LocaleChange;
  Coverage: Coverage;
  LocaleCoverage: LocaleCoverage;
  NamespaceCoverage: NamespaceCoverage;
  ImportProgress: ImportProgress;
  Page_LocalMessage_: Page_LocalMessage_;
  LocalMessage: LocalMessage;
  PendingText: PendingText;
  TextCheck: TextCheck;
  MachineDraft: MachineDraft;
  FormerText: FormerText;
  QueuedImport: QueuedImport;
  ImportAsk: ImportAsk;
  ExportedLocale: ExportedLocale;
  ExportedFile: ExportedFile;
  ExportedObject: ExportedObject;
  ExportAsk: ExportAsk;
  DraftBatch: DraftBatch;
  DraftAsk: DraftAsk;
  Discarded: Discarded;
  DiscardAsk: DiscardAsk;
  TextDraft: TextDraft;
  ReviewAsk: ReviewAsk;
  FunnelConfig: FunnelConfig;
  FunnelField: FunnelField;
  FunnelOption: FunnelOption;
  FunnelExperience: FunnelExperience;
  PublishedVersion: PublishedVersion;
  Author: Author;
  JudgeTrial: JudgeTrial;
  ExperienceDraft: ExperienceDraft;
  FunnelPublication: FunnelPublication;
  FunnelAsset: FunnelAsset;
  FunnelUpload: FunnelUpload;
  Page_FunnelAsset_: Page_FunnelAsset_;
  ProofChallenge: ProofChallenge;
  ChallengeParameters: ChallengeParameters;
  Received: Received;
  SignUp: SignUp;
  ProspectListing: ProspectListing;
  Prospect: Prospect;
  Signal: Signal;
  ProspectVerdict: ProspectVerdict;
  DecisionMade: DecisionMade;
  FunnelDay: FunnelDay;
  DecidedProspect: DecidedProspect;
  ProspectDecision: ProspectDecision;
  Invite: Invite;
  FirstCompany: FirstCompany;
  Person: Person;
  OrgPlace: OrgPlace;
  Place: Place;
  FirstRun: FirstRun;
  Provisioned: Provisioned;
  NewTenant: NewTenant;
  Session: Session;
  Activation: Activation;
  TenantState: TenantState;
  Limit: Limit;
  LimitChange: LimitChange;
  Credentials: Credentials;
  Deleted: Deleted;
  Page_OpenSession_: Page_OpenSession_;
  OpenSession: OpenSession;
  EndedSessions: EndedSessions;
  Enrolment: Enrolment;
  Confirmation: Confirmation;
  RecoveryCodes: RecoveryCodes;
  RecoveryCodeCount: RecoveryCodeCount;
  PasswordChanged: PasswordChanged;
  PasswordChange: PasswordChange;
  Identity: Identity;
  Role: Role;
  OrgRole: OrgRole;
  ProfileChange: ProfileChange;
  AddedMember: AddedMember;
  Member: Member;
  NewMember: NewMember;
  Page_Member_: Page_Member_;
  RoleChange: RoleChange;
  RemovalReport: RemovalReport;
  LeaveChoices: LeaveChoices;
  ResetLink: ResetLink;
  ResetOffer: ResetOffer;
  ResetSession: ResetSession;
  Reset: Reset;
  Status: Status;
  Counts: Counts;
  Age: Age;
  HealthCheck: HealthCheck;
  FoundedCompany: FoundedCompany;
  Company: Company;
  DomainProof: DomainProof;
  NewCompany: NewCompany;
  NewOwner: NewOwner;
  Page_Company_: Page_Company_;
  CompanyRecord: CompanyRecord;
  Usage: Usage;
  StorageParts: StorageParts;
  Setter: Setter;
  ChangedCompany: ChangedCompany;
  CompanyChange: CompanyChange;
  CompanyPage: CompanyPage;
  Page_Team_: Page_Team_;
  Team: Team;
  NewTeam: NewTeam;
  AddedPerson: AddedPerson;
  NewPerson: NewPerson;
  ChangedOrgRole: ChangedOrgRole;
  OrgRoleChange: OrgRoleChange;
  Page_AuditEvent_: Page_AuditEvent_;
  AuditEvent: AuditEvent;
  NewExecutor: NewExecutor;
  CompanyExecutorDraft: CompanyExecutorDraft;
  NoteReply: NoteReply;
  NoteDraft: NoteDraft;
  Page_Note_: Page_Note_;
  Note: Note;
  NoteChange: NoteChange;
  DeletedNote: DeletedNote;
  NoteGrant: NoteGrant;
  NoteShareChange: NoteShareChange;
  Page_NoteShare_: Page_NoteShare_;
  NoteShare: NoteShare;
  Page_NoteVersion_: Page_NoteVersion_;
  NoteVersion: NoteVersion;
  NoteText: NoteText;
  VersionNaming: VersionNaming;
  VersionChoice: VersionChoice;
  DocumentReply: DocumentReply;
  DocumentDraft: DocumentDraft;
  Page_DocumentCard_: Page_DocumentCard_;
  DocumentCard: DocumentCard;
  DocumentChange: DocumentChange;
  DeletedDocument: DeletedDocument;
  Page_TrashItem_: Page_TrashItem_;
  TrashItem: TrashItem;
  Restored: Restored;
  RestoreChoice: RestoreChoice;
  Purged: Purged;
  Emptied: Emptied;
  Page_ListedChange_: Page_ListedChange_;
  ListedChange: ListedChange;
  ChangeAuthor: ChangeAuthor;
  Echo: Echo;
  Spent: Spent;
  EchoAsk: EchoAsk;
  ChatReply: ChatReply;
  ShownUsage: ShownUsage;
  ChatAsk: ChatAsk;
  TextPart: TextPart;
  ImagePart: ImagePart;
  ImageAddress: ImageAddress;
  FilePart: FilePart;
  ChatMessage: ChatMessage;
  ResponseFormat: ResponseFormat;
  StoppedTurn: StoppedTurn;
  StreamAsk: StreamAsk;
  AgentReply: AgentReply;
  Step: Step;
  Approval: Approval;
  Taint: Taint;
  AgentAsk: AgentAsk;
  Decision: Decision;
  TranslatedCatalog: TranslatedCatalog;
  CatalogAsk: CatalogAsk;
  Translation: Translation;
  TranslationReport: TranslationReport;
  KeptBlock: KeptBlock;
  GlossaryUse: GlossaryUse;
  WantedTerm: WantedTerm;
  TranslationAsk: TranslationAsk;
  Page_StoredTranslation_: Page_StoredTranslation_;
  StoredTranslation: StoredTranslation;
  GlossaryTerm: GlossaryTerm;
  TermAsk: TermAsk;
  Page_GlossaryTerm_: Page_GlossaryTerm_;
  ChatModel: ChatModel;
  OpenTurn: OpenTurn;
  ModelRoles: ModelRoles;
  RoleChoice: RoleChoice;
  Page_Executor_: Page_Executor_;
  Executor: Executor;
  ExecutorDraft: ExecutorDraft;
  RetiredExecutor: RetiredExecutor;
  ClaimReply: ClaimReply;
  ClaimedJob: ClaimedJob;
  ClaimAsk: ClaimAsk;
  LeaseReply: LeaseReply;
  Heartbeat: Heartbeat;
  ReplyChunk: ReplyChunk;
  SettledReply: SettledReply;
  Completion: Completion;
  FailureReport: FailureReport;
  Page_Usage_: Page_Usage_;
  Page_ToolState_: Page_ToolState_;
  ToolState: ToolState;
  ToolSwitch: ToolSwitch;
  IssuedToken: IssuedToken;
  NewToken: NewToken;
  Page_Token_: Page_Token_;
  Token: Token;
  RevokedToken: RevokedToken;
  Given: Given;
  SearchResults: SearchResults;
  SearchHit: SearchHit;
  TeamName: TeamName;
  Page_Feature_: Page_Feature_;
  Feature: Feature;
  FeatureSwitch: FeatureSwitch;
  Seeded: Seeded;
  Page_PluginCard_: Page_PluginCard_;
  PluginCard: PluginCard;
  Page_McpServerState_: Page_McpServerState_;
  McpServerState: McpServerState;
  LeftOut: LeftOut;
  GuestPage: GuestPage;
  GuestCard: GuestCard;
  SandboxCard: SandboxCard;
  Job: Job;
  JobError: JobError;
  JobDraft: JobDraft;
  Page_JobSummary_: Page_JobSummary_;
  JobSummary: JobSummary;
  Listing: Listing;
  StoredObject: StoredObject;
  Version: Version;
  ObjectReply: ObjectReply;
  ObjectDetail: ObjectDetail;
  Text: Text;
  DeletedObject: DeletedObject;
  Presigned: Presigned;
  LinkDraft: LinkDraft;
  ObjectGrant: ObjectGrant;
  ObjectShare: ObjectShare;
  Unshared: Unshared;
  ObjectUnshare: ObjectUnshare;
  Page_ObjectGrant_: Page_ObjectGrant_;
  ChangedVisibility: ChangedVisibility;
  VisibilityChange: VisibilityChange;
  Page_Derivation_: Page_Derivation_;
  Derivation: Derivation;
  StepProgress: StepProgress;
  Destination: Destination;
  BatchResult: BatchResult;
  BatchFailure: BatchFailure;
  ObjectBatch: ObjectBatch;
  ShareTargets: ShareTargets;
  Target: Target;
  AccessKeys: AccessKeys;
  AccessKey: AccessKey;
  IssuedKey: IssuedKey;
  AccessKeyDraft: AccessKeyDraft;
  RevokedKey: RevokedKey;
  Definition: Definition;
  Input: Input;
  CheckedSpec: CheckedSpec;
  Page_WorkflowSummary_: Page_WorkflowSummary_;
  WorkflowSummary: WorkflowSummary;
  LastRun: LastRun;
  Waiting: Waiting;
  Format: Format;
  RetryRule: RetryRule;
  DefinitionHistory: DefinitionHistory;
  WorkflowPublication: WorkflowPublication;
  Upstream: Upstream;
  Reach: Reach;
  ToolReach: ToolReach;
  Run: Run;
  WorkflowName: WorkflowName;
  RunError: RunError;
  Starter: Starter;
  ResumedFrom: ResumedFrom;
  WorkflowStep: WorkflowStep;
  ItemCounts: ItemCounts;
  StepError: StepError;
  StepAttempt: StepAttempt;
  MapItem: MapItem;
  ArtifactRef: ArtifactRef;
  RunDraft: RunDraft;
  Resume: Resume;
  TriggerListing: TriggerListing;
  Trigger: Trigger;
  Fire: Fire;
  FiredVersion: FiredVersion;
  RunStanding: RunStanding;
  Budget: Budget;
  Rehearsal: Rehearsal;
  RehearsedFire: RehearsedFire;
  NewTrigger: NewTrigger;
  TriggerDetail: TriggerDetail;
  Page_Fire_: Page_Fire_;
  TriggerChange: TriggerChange;
  DeletedTrigger: DeletedTrigger;
  Page_RunSummary_: Page_RunSummary_;
  RunSummary: RunSummary;
  Page_Entity_: Page_Entity_;
  Entity: Entity;
  EntityDetail: EntityDetail;
  Page_ShownMention_: Page_ShownMention_;
  ShownMention: ShownMention;
  VersionRead: VersionRead;
  Relation: Relation;
  NamedEntity: NamedEntity;
  ShownEvidence: ShownEvidence;
  MergeResult: MergeResult;
  Page_Unread_: Page_Unread_;
  Unread: Unread;
  'example-tools.Counts': example_tools_Counts;
  'example-tools.Text': example_tools_Text;
  'integrator-demo.Eta': integrator_demo_Eta;
  'integrator-demo.Lane': integrator_demo_Lane;
}

export interface Rows {
  GET: {
    /** The browser console; the sign-up form with SERVICE_HOME=beta. */
    '/': {
      reply: Blob;
    };
    /** The browser console, by its file name. */
    '/index.html': {
      reply: Blob;
    };
    /** The browser console, sign-in first. */
    '/login': {
      reply: Blob;
    };
    /** The browser console on the activation screen; the token stays in the address's fragment. */
    '/activate': {
      reply: Blob;
    };
    /** Whether the process is alive. */
    '/health': {
      reply: Health;
    };
    /** The script with which any page shows and sends the sign-up form: `window.Service.beta`. */
    '/beta-sdk.js': {
      reply: Blob;
    };
    /** A file that a plugin shows to everybody. */
    '/beta/bundle/{plugin}/{path}': {
      params: {
        path: {
          plugin: string;
          path: string;
        };
      };
      reply: Blob;
    };
    /** A file that a plugin shows to people who are signed in. */
    '/api/x/{plugin}/bundle/{path}': {
      params: {
        path: {
          plugin: string;
          path: string;
        };
      };
      reply: Blob;
    };
    /** The sign-up form as a sandboxed page, to be embedded: the experience's own template, else the usual page. */
    '/beta/template': {
      params?: {
        query?: {
          locale?: string;
          draft?: boolean;
        };
      };
      reply: Blob;
    };
    /** Whether the process can answer requests now. */
    '/ready': {
      reply: Ready;
    };
    /** This interface as an OpenAPI 3.1 document. */
    '/openapi.json': {
      reply: Blob;
    };
    /** This interface as a page for people. */
    '/docs': {
      reply: Blob;
    };
    /** A script, style, font or picture of the console. */
    '/assets/{path}': {
      params: {
        path: {
          path: string;
        };
      };
      reply: Blob;
    };
    /** The console's service worker. */
    '/sw.js': {
      reply: Blob;
    };
    /** Public configuration of the instance. */
    '/api/config': {
      params?: {
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: Config;
    };
    /** Title, tagline, logo and theme tokens: the company's on its hostname and to its people, else the instance's. */
    '/api/branding': {
      params?: {
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: Branding;
    };
    /** The console's messages in a locale, gaps filled through the fallback chain; of some namespaces or of all. */
    '/api/i18n/catalog': {
      params?: {
        query?: {
          locale?: string;
          namespaces?: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: Catalog;
    };
    /** How many messages of each locale and namespace are approved, drafted by a machine, missing or stale; how far an import is. */
    '/api/l10n/coverage': {
      reply: Coverage;
    };
    /** The messages of one locale by key; `q` searches keys, sources, texts and proposals; a page ends early at about 2 MB. */
    '/api/l10n/messages': {
      params: {
        query: {
          locale: string;
          status?: 'approved' | 'machine' | 'missing' | 'pending' | 'stale';
          ns?: string;
          q?: string;
          history?: boolean;
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_LocalMessage_;
    };
    /** The published sign-up form in one language: fields, copy, look and files. */
    '/api/beta/config': {
      params?: {
        query?: {
          locale?: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: FunnelConfig;
    };
    /** A proof-of-work challenge (ALTCHA, version 2) to solve before signing up; it holds for ten minutes. */
    '/api/beta/challenge': {
      reply: ProofChallenge;
    };
    /** The draft of the sign-up form with what the judge is told, or a published version of it. */
    '/api/beta/experience': {
      params?: {
        query?: {
          version?: number;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: FunnelExperience;
    };
    /** The sign-up form's pictures and fonts, newest first. */
    '/api/beta/assets': {
      params?: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_FunnelAsset_;
    };
    /** A picture or font of the sign-up form; its bytes never change. */
    '/api/beta/asset/{id}': {
      params: {
        path: {
          id: string;
        };
      };
      reply: Blob;
    };
    /** Who signed up, newest first, with signals and verdicts; the first page counts how many visitors came how far. */
    '/api/beta/prospects': {
      params?: {
        query?: {
          state?: 'accepted' | 'captured' | 'declined';
          verdict?: 'pass' | 'promising' | 'suspect' | 'unfit' | 'unsure';
          q?: string;
          limit?: number;
          cursor?: string;
        };
      };
      reply: ProspectListing;
    };
    /** Where the caller is signed in, with device, address and last use. */
    '/api/sessions': {
      params?: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_OpenSession_;
    };
    /** The number of unspent recovery codes, never the codes. */
    '/api/2fa/recovery-codes': {
      reply: RecoveryCodeCount;
    };
    /** Who the caller is: user, team, company, roles, locale, permissions. */
    '/api/whoami': {
      reply: Identity;
    };
    /** The team's members and their roles; `scope=org` spans the company. */
    '/api/members': {
      params?: {
        query?: {
          scope?: 'org' | 'team';
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_Member_;
    };
    /** Version, security state and counts; with `checks` also what `atrium doctor` looks at. */
    '/api/admin/status': {
      params?: {
        query?: {
          checks?: boolean;
        };
      };
      reply: Status;
    };
    /** Every company; `q` searches names and slugs. */
    '/api/orgs': {
      params?: {
        query?: {
          q?: string;
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_Company_;
    };
    /** A company with its teams and quotas. */
    '/api/orgs/{ref}': {
      params: {
        path: {
          ref: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: CompanyRecord;
    };
    /** The caller's company. */
    '/api/org': {
      params?: {
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: CompanyPage;
    };
    /** The company's teams. */
    '/api/org/teams': {
      params?: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_Team_;
    };
    /** The company's audit trail, newest first. */
    '/api/org/audit': {
      params?: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_AuditEvent_;
    };
    /** The company's branding, or the instance's with `own: false` while the company has set none. */
    '/api/org/branding': {
      params?: {
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: EditableBranding;
    };
    /** The notes the caller can read; `scope=org` spans the company, `q` searches titles and bodies; a page ends early at about 2 MB. */
    '/api/notes': {
      params?: {
        query?: {
          scope?: 'org' | 'team';
          q?: string;
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_Note_;
    };
    /** One note, and what the caller may do with it. */
    '/api/notes/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: NoteReply;
    };
    /** Whom a note is shared with. */
    '/api/notes/{id}/shares': {
      params: {
        path: {
          id: string;
        };
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_NoteShare_;
    };
    /** The versions of a note, newest first; the first is what it says now. */
    '/api/notes/{id}/versions': {
      params: {
        path: {
          id: string;
        };
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_NoteVersion_;
    };
    /** One version of a note with its text. */
    '/api/notes/{id}/versions/{number}': {
      params: {
        path: {
          id: string;
          number: number;
        };
      };
      reply: NoteText;
    };
    /** The text documents the caller can read; `scope=org` spans the company. */
    '/api/documents': {
      params?: {
        query?: {
          scope?: 'org' | 'team';
          prefix?: string;
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_DocumentCard_;
    };
    /** One document with its body, and what the caller may do with it. */
    '/api/documents/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: DocumentReply;
    };
    /** What was deleted and can be restored: the caller's own, and what they manage of the team's. */
    '/api/trash': {
      params?: {
        query?: {
          kind?: 'note' | 'object';
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_TrashItem_;
    };
    /** What changes of what the caller can read: a stream for `Accept: text/event-stream`, else a page, newest first. */
    '/api/changes': {
      params?: {
        query?: {
          scope?: 'org' | 'team';
          kinds?: string;
          after?: string;
          limit?: number;
          cursor?: string;
        };
        header?: {
          'Last-Event-ID'?: string;
        };
      };
      reply: Page_ListedChange_ | ReadableStream<Uint8Array>;
    };
    /** The caller's own translations, newest first; a page ends early at about 2 MB. */
    '/api/translate': {
      params?: {
        query?: {
          target?: string;
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_StoredTranslation_;
    };
    /** The team's glossary in the order of its terms; `q` searches terms and translations. */
    '/api/glossary': {
      params?: {
        query?: {
          target?: string;
          q?: string;
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_GlossaryTerm_;
    };
    /** The model that a chat would use now, or that the simulated one is in use; also the turn that is open in a conversation. */
    '/api/ai/model': {
      params?: {
        query?: {
          conversation?: string;
        };
      };
      reply: ChatModel;
    };
    /** The executor the team uses for each role, and the instance's default. */
    '/api/model-roles': {
      params?: {
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: ModelRoles;
    };
    /** Executors that serve the caller's company, with their health. */
    '/api/executors': {
      reply: Page_Executor_;
    };
    /** What the team and its company have used and reserved, with limits and reset times. */
    '/api/usage': {
      reply: Page_Usage_;
    };
    /** Registered tools with permission, source and whether the team has them enabled. */
    '/api/tools': {
      reply: Page_ToolState_;
    };
    /** The team's API tokens. */
    '/api/tokens': {
      params?: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_Token_;
    };
    /** The team's audit events, newest first. */
    '/api/audit': {
      params?: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_AuditEvent_;
    };
    /** Find notes, files, documents and entities that the caller can read, best first. */
    '/api/search': {
      params: {
        query: {
          q: string;
          kind?: 'document' | 'entity' | 'note' | 'object';
          prefix?: string;
          scope?: 'org' | 'team';
          limit?: number;
          cursor?: string;
        };
      };
      reply: SearchResults;
    };
    /** Operational metrics of this process: Prometheus text, or JSON when asked for. */
    '/api/metrics': {
      reply: Blob;
    };
    /** The team's feature flags. */
    '/api/features': {
      reply: Page_Feature_;
    };
    /** Loaded plugins with their tools and workflows. */
    '/api/plugins': {
      reply: Page_PluginCard_;
    };
    /** MCP servers whose tools the caller's company may turn on, with their state. */
    '/api/mcp': {
      reply: Page_McpServerState_;
    };
    /** Connected sandboxed out-of-process plugins and the capabilities they may request. */
    '/api/oop': {
      reply: GuestPage;
    };
    /** The team's jobs, newest first, each with what it is waiting for. */
    '/api/jobs': {
      params?: {
        query?: {
          state?: 'cancelled' | 'failed' | 'queued' | 'running' | 'succeeded';
          kind?: string;
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_JobSummary_;
    };
    /** One job, with its result or error. */
    '/api/jobs/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: Job;
    };
    /** The objects the caller can read; `shared=1` only live grants, `scope=org` the company, `delimiter` folds folders. */
    '/api/repo': {
      params?: {
        query?: {
          prefix?: string;
          shared?: boolean;
          scope?: 'org' | 'team';
          delimiter?: string;
          q?: string;
          order?: 'name' | 'size' | 'updated';
          dir?: 'asc' | 'desc';
          limit?: number;
          cursor?: string;
        };
      };
      reply: Listing;
    };
    /** One object's metadata with its versions. */
    '/api/repo-obj/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: ObjectDetail;
    };
    /** The bytes of an object; `version` takes a version's number or id, and a `Range` gets that part. */
    '/api/repo-obj/{id}/content': {
      params: {
        path: {
          id: string;
        };
        query?: {
          version?: string;
        };
        header?: {
          Range?: string;
          'If-Range'?: string;
          'If-None-Match'?: string;
          'If-Modified-Since'?: string;
        };
      };
      reply: Blob;
    };
    /** Who was let in, one entry per principal. */
    '/api/repo-obj/{id}/grants': {
      params: {
        path: {
          id: string;
        };
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_ObjectGrant_;
    };
    /** What an object was made from, by which run and step. */
    '/api/repo-obj/{id}/derivations': {
      params: {
        path: {
          id: string;
        };
      };
      reply: Page_Derivation_;
    };
    /** Derived documents, sources, and runs touching an object. */
    '/api/repo-obj/{id}/processing': {
      params: {
        path: {
          id: string;
        };
      };
      reply: StepProgress;
    };
    /** What the caller can read below `prefix`, or of `ids`, as a zip archive; at most 10,000 objects and 20 GiB. */
    '/api/repo-zip': {
      params?: {
        query?: {
          prefix?: string;
          ids?: string;
        };
      };
      reply: Blob;
    };
    /** The team's people and the company's teams. */
    '/api/share-targets': {
      reply: ShareTargets;
    };
    /** The caller's access keys, or a member's (`user`), without their secrets; endpoint, bucket and region. */
    '/api/s3/credentials': {
      params?: {
        query?: {
          user?: string;
        };
      };
      reply: AccessKeys;
    };
    /** The team's workflows, those of plugins included, by slug. */
    '/api/workflows': {
      params?: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_WorkflowSummary_;
    };
    /** The format of specs: kinds of steps, predicates, references, retries and the JSON schema. */
    '/api/workflows/schema': {
      params?: {
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: Format;
    };
    /** One workflow with its spec and its versions, newest first. */
    '/api/workflows/{slug}': {
      params: {
        path: {
          slug: string;
        };
        query?: {
          version?: number;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: DefinitionHistory;
    };
    /** The team's triggers, and what models may still cost. */
    '/api/doc-triggers': {
      params?: {
        query?: {
          limit?: number;
          cursor?: string;
        };
      };
      reply: TriggerListing;
    };
    /** One trigger with its history: which version started which run, or why not. */
    '/api/doc-triggers/{id}': {
      params: {
        path: {
          id: string;
        };
        query?: {
          limit?: number;
          cursor?: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: TriggerDetail;
    };
    /** The team's runs, newest first. */
    '/api/runs': {
      params?: {
        query?: {
          state?: 'cancelled' | 'failed' | 'running' | 'succeeded';
          workflow?: string;
          trigger?: string;
          mine?: boolean;
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_RunSummary_;
    };
    /** A run with its steps, what they were given, what came out and why they failed. */
    '/api/runs/{id}': {
      params: {
        path: {
          id: string;
        };
        query?: {
          step?: string;
          cursor?: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: Run;
    };
    /** Entities in documents that the caller can read, most mentioned first; `scope=org` spans the company. */
    '/api/kg/entities': {
      params?: {
        query?: {
          q?: string;
          type?: 'concept' | 'document' | 'event' | 'organisation' | 'person' | 'place' | 'product' | 'project';
          object?: string;
          scope?: 'org' | 'team';
          limit?: number;
          cursor?: string;
        };
      };
      reply: Page_Entity_;
    };
    /** One entity with its mentions, its relations and what was merged into it, from documents that the caller can read. */
    '/api/kg/entities/{id}': {
      params: {
        path: {
          id: string;
        };
        query?: {
          scope?: 'org' | 'team';
          limit?: number;
          cursor?: string;
        };
        header?: {
          'If-None-Match'?: string;
        };
      };
      reply: EntityDetail;
    };
    /** Count the words of `text` in the query. */
    '/api/x/example-tools/word-count': {
      params: {
        query: {
          text: string;
        };
      };
      reply: example_tools_Counts;
    };
    /** Estimated days of the `lane` in the query. */
    '/api/x/integrator-demo/eta': {
      params: {
        query: {
          lane: string;
        };
      };
      reply: integrator_demo_Eta;
    };
  };
  POST: {
    /** Set the instance's logo. */
    '/api/branding/logo': {
      body: LogoUpload;
      reply: EditableBranding;
    };
    /** Take catalogs into the manager's tables as a job; its result is the report. */
    '/api/l10n/import': {
      body?: ImportAsk;
      reply: QueuedImport;
    };
    /** Write a locale's approved texts back to its catalog files, or the whole locale to an object. */
    '/api/l10n/export': {
      body: ExportAsk;
      reply: ExportedLocale | ExportedObject;
    };
    /** Queue drafts by a model for what a locale lacks, at most 20 jobs of 25 messages, paid by the caller's team. */
    '/api/l10n/draft': {
      body: DraftAsk;
      reply: DraftBatch;
    };
    /** Remove a locale's drafts by a machine; nothing that a person wrote or approved. */
    '/api/l10n/discard': {
      body: DiscardAsk;
      reply: Discarded;
    };
    /** Approve a translation or send it back; no reviewer decides on their own. */
    '/api/l10n/review/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body: ReviewAsk;
      reply: LocalMessage;
    };
    /** Sign up; the reply is the same for everybody, known or not. */
    '/api/beta/signup': {
      body: SignUp;
      reply: Received;
    };
    /** Publish the saved draft: visitors see it from now on, and the version is kept. */
    '/api/beta/experience/publish': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      reply: FunnelPublication;
    };
    /** Upload a picture, which is drawn anew, or a font for the sign-up form. */
    '/api/beta/assets': {
      body: FunnelUpload;
      reply: FunnelAsset;
    };
    /** Accept or decline who signed up, once; an invitation founds their company and answers with the owner's link. */
    '/api/beta/prospects/{id}/decide': {
      params: {
        path: {
          id: string;
        };
      };
      body: ProspectDecision;
      reply: DecidedProspect;
    };
    /** First run only: create the operator, the first company and its team; returns the operator's token. */
    '/api/bootstrap': {
      body: FirstRun;
      reply: FirstCompany;
    };
    /** Provision exactly one owner, with a link to take the workspace over. */
    '/api/provision': {
      body: NewTenant;
      reply: Provisioned;
    };
    /** Redeem an activation link and set the owner's password. */
    '/api/activate': {
      body: Activation;
      reply: Session;
    };
    /** Suspend the tenant: reading works, writing answers 402. */
    '/api/instance/suspend': {
      reply: TenantState;
    };
    /** Resume the tenant. */
    '/api/instance/resume': {
      reply: TenantState;
    };
    /** Set a quota limit for the tenant's team. */
    '/api/instance/quota': {
      body: LimitChange;
      reply: Limit;
    };
    /** Sign in with username and password, plus a code when two-factor is on. */
    '/api/login': {
      body: Credentials;
      reply: Session;
    };
    /** Sign out: end the session that asks. */
    '/api/logout': {
      reply: Deleted;
    };
    /** Turn two-factor on; the secret and the recovery codes are returned once. */
    '/api/2fa/enable': {
      body?: Confirmation;
      reply: Enrolment;
    };
    /** A fresh single-use set of recovery codes; outstanding ones stop working. */
    '/api/2fa/recovery-codes': {
      body?: Confirmation;
      reply: RecoveryCodes;
    };
    /** Change one's own password; other sessions end, and the first password ends whatever was issued before it. */
    '/api/password': {
      body: PasswordChange;
      reply: PasswordChanged;
    };
    /** Update one's display name and locale. */
    '/api/profile': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body?: ProfileChange;
      reply: Identity;
    };
    /** Add a member to one's team with a role; returns their first token. */
    '/api/members': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: NewMember;
      reply: AddedMember;
    };
    /** A link with which a member chooses a new password; it works once, for a day. */
    '/api/members/{id}/reset': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body?: ResetOffer;
      reply: ResetLink;
    };
    /** Redeem a reset link: choose a new password and sign in; every other session ends. */
    '/api/password/reset': {
      body: Reset;
      reply: ResetSession;
    };
    /** Create a company: the company itself, its first team and its owner. */
    '/api/orgs': {
      body: NewCompany;
      reply: FoundedCompany;
    };
    /** Suspend a company by id or slug: its teams become read-only. */
    '/api/orgs/{ref}/suspend': {
      params: {
        path: {
          ref: string;
        };
      };
      reply: Company;
    };
    /** Resume a company by id or slug. */
    '/api/orgs/{ref}/resume': {
      params: {
        path: {
          ref: string;
        };
      };
      reply: Company;
    };
    /** Set a limit for a company; its teams nest beneath. */
    '/api/orgs/{ref}/quota': {
      params: {
        path: {
          ref: string;
        };
      };
      body: LimitChange;
      reply: Limit;
    };
    /** Seed two demo companies with known passwords; needs SERVICE_DEMO=1. */
    '/api/admin/seed-tenants': {
      reply: Page_Company_;
    };
    /** Create a team in the company. */
    '/api/org/teams': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: NewTeam;
      reply: Team;
    };
    /** Add a person to a team of the company, optionally with a company role. */
    '/api/org/members': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: NewPerson;
      reply: AddedPerson;
    };
    /** Set the company's logo. */
    '/api/org/branding/logo': {
      body: LogoUpload;
      reply: EditableBranding;
    };
    /** Put an executor into service that serves the caller's company alone. */
    '/api/org/executors': {
      body: CompanyExecutorDraft;
      reply: NewExecutor;
    };
    /** Create a note with a visibility. */
    '/api/notes': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: NoteDraft;
      reply: NoteReply;
    };
    /** Share a note with a person of the company. */
    '/api/notes/{id}/share': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: NoteShareChange;
      reply: NoteGrant;
    };
    /** Make an earlier text the newest version; `If-Match` refuses to overwrite a newer one. */
    '/api/notes/{id}/restore': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
          'Idempotency-Key'?: string;
        };
      };
      body: VersionChoice;
      reply: NoteReply;
    };
    /** Create a text document. */
    '/api/documents': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: DocumentDraft;
      reply: DocumentReply;
    };
    /** Bring something back as it was: the same id, versions and shares. */
    '/api/trash/{id}/restore': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body?: RestoreChoice;
      reply: Restored;
    };
    /** A metered echo without a model, for exercising quotas. */
    '/api/ai/echo': {
      body?: EchoAsk;
      reply: Echo;
    };
    /** One turn of a model, whole. */
    '/api/ai/chat': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: ChatAsk;
      reply: ChatReply;
    };
    /** One turn of a model as server-sent events; also goes on with a turn, and stops one. */
    '/api/ai/chat/stream': {
      params?: {
        header?: {
          'Last-Event-ID'?: string;
          'Idempotency-Key'?: string;
        };
      };
      body?: StreamAsk;
      reply: StoppedTurn | ReadableStream<Uint8Array>;
    };
    /** Let a model work on a task with the team's tools, step by step; what waits for the caller's approval is decided here, too. */
    '/api/agent': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body?: AgentAsk;
      reply: AgentReply | ReadableStream<Uint8Array>;
    };
    /** Translate a catalog of ICU messages; nothing is written. */
    '/api/translate/catalog': {
      body: CatalogAsk;
      reply: TranslatedCatalog;
    };
    /** Translate a text by the team's glossary. */
    '/api/translate': {
      body: TranslationAsk;
      reply: Translation;
    };
    /** Add, change or remove a term of the team's glossary for one language. */
    '/api/glossary': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: TermAsk;
      reply: GlossaryTerm;
    };
    /** Put an executor into service; a pull worker's token is in this reply only. */
    '/api/executors': {
      body: ExecutorDraft;
      reply: NewExecutor;
    };
    /** Claim a job of these kinds under a lease; 204 when none came in time. */
    '/api/workers/claim': {
      body: ClaimAsk;
      reply: ClaimReply | null;
    };
    /** Extend the lease of a claimed job, and learn whether it is still wanted. */
    '/api/workers/jobs/{id}/heartbeat': {
      params: {
        path: {
          id: string;
        };
      };
      body?: Heartbeat;
      reply: LeaseReply;
    };
    /** Complete a claimed job; a result that its kind refuses leaves the claim as it was. */
    '/api/workers/jobs/{id}/complete': {
      params: {
        path: {
          id: string;
        };
      };
      body: Completion;
      reply: SettledReply;
    };
    /** Fail a claimed job; it is tried again while it has attempts left. */
    '/api/workers/jobs/{id}/fail': {
      params: {
        path: {
          id: string;
        };
      };
      body: FailureReport;
      reply: SettledReply;
    };
    /** Set a limit for the caller's team. */
    '/api/quota': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: LimitChange;
      reply: Limit;
    };
    /** Enable or disable a tool for the team. */
    '/api/tools/{name}': {
      params: {
        path: {
          name: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: ToolSwitch;
      reply: ToolState;
    };
    /** Issue an API token; the raw token is returned once. */
    '/api/tokens': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: NewToken;
      reply: IssuedToken;
    };
    /** Turn a feature on or off for the team. */
    '/api/features/{name}': {
      params: {
        path: {
          name: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: FeatureSwitch;
      reply: Feature;
    };
    /** Seed sample notes and documents into the caller's team; safe to repeat. */
    '/api/admin/seed': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      reply: Seeded;
    };
    /** Queue a job of a registered kind. */
    '/api/jobs': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: JobDraft;
      reply: Job;
    };
    /** Cancel a job that waits; a running one is told at its next heartbeat. */
    '/api/jobs/{id}/cancel': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      reply: Job;
    };
    /** A time-boxed S3 link to an object, signed with the caller's newest access key. */
    '/api/repo-obj/{id}/presign': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body?: LinkDraft;
      reply: Presigned;
    };
    /** Let a person, a team or the company in; a private object becomes a shared one. */
    '/api/repo-obj/{id}/share': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: ObjectShare;
      reply: ObjectGrant;
    };
    /** End every grant a principal holds. */
    '/api/repo-obj/{id}/unshare': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: ObjectUnshare;
      reply: Unshared;
    };
    /** Make an object private, the team's, or shared; private ends its grants. */
    '/api/repo-obj/{id}/visibility': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: VisibilityChange;
      reply: ChangedVisibility;
    };
    /** Move or rename an object: another key, and the same id, versions and shares. */
    '/api/repo-obj/{id}/move': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
          'Idempotency-Key'?: string;
        };
      };
      body: Destination;
      reply: ObjectReply;
    };
    /** Move, delete or show many objects, each on its own; a folder is moved whole or not at all. */
    '/api/repo-batch': {
      body: ObjectBatch;
      reply: BatchResult;
    };
    /** Issue an access key; its secret is shown this once. */
    '/api/s3/credentials': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body?: AccessKeyDraft;
      reply: IssuedKey;
    };
    /** Publish a spec as the next version of its slug; `dry_run` only judges it. */
    '/api/workflows': {
      params?: {
        query?: {
          dry_run?: boolean;
        };
        header?: {
          'If-Match'?: string;
          'Idempotency-Key'?: string;
        };
      };
      body: Record<string, unknown>;
      reply: CheckedSpec | Definition;
    };
    /** Start a run of a workflow, or resume one that has ended, from any of its steps. */
    '/api/workflows/{slug}/run': {
      params: {
        path: {
          slug: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body?: RunDraft;
      reply: Run;
    };
    /** Start a workflow whenever a matching version is written; `dry_run=1` only tells what it would do. */
    '/api/doc-triggers': {
      params?: {
        query?: {
          dry_run?: boolean;
          object?: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: NewTrigger;
      reply: Rehearsal | Trigger;
    };
    /** Cancel a run: nothing of it that waits starts any more, and a step that is executing finishes. */
    '/api/runs/{id}/cancel': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      reply: Run;
    };
    /** Read documents that were not read yet, at most 40 in a run; `dry_run=1` only tells which, and why. */
    '/api/kg/extract': {
      params?: {
        query?: {
          dry_run?: boolean;
          limit?: number;
          cursor?: string;
        };
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      reply: Page_Unread_ | Run;
    };
    /** Count the words of `text` in the body. */
    '/api/x/example-tools/word-count': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: example_tools_Text;
      reply: example_tools_Counts;
    };
    /** Estimated days of the `lane` in the body. */
    '/api/x/integrator-demo/eta': {
      params?: {
        header?: {
          'Idempotency-Key'?: string;
        };
      };
      body: integrator_demo_Lane;
      reply: integrator_demo_Eta;
    };
  };
  PUT: {
    /** Set the instance's title, tagline and theme; a token that cannot be used is named, with the nearest colour that can. */
    '/api/branding': {
      params?: {
        header?: {
          'If-Match'?: string;
        };
      };
      body?: BrandingDraft;
      reply: EditableBranding;
    };
    /** Set the instance's default language and whether people may switch; without `serve_machine` that stays as it is. */
    '/api/i18n': {
      params?: {
        header?: {
          'If-Match'?: string;
        };
      };
      body: LocaleChange;
      reply: LocalePolicy;
    };
    /** Submit a translation; it waits for a reviewer while the approved text stays live. */
    '/api/l10n/messages/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body: TextDraft;
      reply: LocalMessage;
    };
    /** Save the draft of the sign-up form; visitors see it once it is published. */
    '/api/beta/experience': {
      params?: {
        query?: {
          dry_run?: boolean;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body: ExperienceDraft;
      reply: FunnelExperience | JudgeTrial;
    };
    /** Set the company's title, tagline, theme and logo, on top of the instance's and gated like them. */
    '/api/org/branding': {
      params?: {
        header?: {
          'If-Match'?: string;
        };
      };
      body?: BrandingDraft;
      reply: EditableBranding;
    };
    /** Update a note; `If-Match` refuses to overwrite a newer version. */
    '/api/notes/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body?: NoteChange;
      reply: NoteReply;
    };
    /** Give a version of a note a name. */
    '/api/notes/{id}/versions/{number}': {
      params: {
        path: {
          id: string;
          number: number;
        };
      };
      body: VersionNaming;
      reply: NoteVersion;
    };
    /** Update title, body or visibility as a new version; `If-Match` refuses to overwrite a newer one. */
    '/api/documents/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body?: DocumentChange;
      reply: DocumentReply;
    };
    /** Choose which executor serves a role for the team. */
    '/api/model-roles': {
      params?: {
        header?: {
          'If-Match'?: string;
        };
      };
      body: RoleChoice;
      reply: ModelRoles;
    };
    /** Write a raw body to a key; an existing key gains a version. */
    '/api/repo/{key}': {
      params: {
        path: {
          key: string;
        };
        query?: {
          filename?: string;
          visibility?: 'private' | 'shared' | 'team';
        };
        header?: {
          'If-Match'?: string;
          'If-None-Match'?: string;
        };
      };
      body: Blob | ArrayBuffer;
      reply: ObjectReply;
    };
  };
  PATCH: {
    /** Give a member another role, at most one's own; the last owner stays. */
    '/api/members/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body: RoleChange;
      reply: Member;
    };
    /** Rename a company, change its plan, set or clear its hostname. */
    '/api/orgs/{ref}': {
      params: {
        path: {
          ref: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body?: CompanyChange;
      reply: ChangedCompany;
    };
    /** Set or clear a person's role in the company; never one's own. */
    '/api/org/members/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body: OrgRoleChange;
      reply: ChangedOrgRole;
    };
    /** Change a trigger; `If-Match` refuses to overwrite another change, `dry_run=1` only tells what it would do. */
    '/api/doc-triggers/{id}': {
      params: {
        path: {
          id: string;
        };
        query?: {
          dry_run?: boolean;
          object?: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body?: TriggerChange;
      reply: Trigger | Rehearsal;
    };
  };
  DELETE: {
    /** Delete a picture or font that the published form does not show. */
    '/api/beta/asset/{id}': {
      params: {
        path: {
          id: string;
        };
      };
      reply: FunnelAsset;
    };
    /** End every session of one's own but the one that asks. */
    '/api/sessions': {
      reply: EndedSessions;
    };
    /** End one of one's own sessions. */
    '/api/sessions/{id}': {
      params: {
        path: {
          id: string;
        };
      };
      reply: Deleted;
    };
    /** Turn one's own two-factor off. */
    '/api/2fa': {
      body?: Confirmation;
      reply: Deleted;
    };
    /** Revoke a person's two-factor seed, so that they enrol again. */
    '/api/admin/users/{id}/2fa': {
      params: {
        path: {
          id: string;
        };
      };
      reply: Deleted;
    };
    /** Remove a member: whatever acts for them ends, and what they shared has another owner. */
    '/api/members/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      body?: LeaveChoices;
      reply: RemovalReport;
    };
    /** Drop the company's branding; the reply is the instance's, which shows from now on. */
    '/api/org/branding': {
      params?: {
        header?: {
          'If-Match'?: string;
        };
      };
      reply: EditableBranding;
    };
    /** Put a note in the trash. */
    '/api/notes/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      reply: DeletedNote;
    };
    /** Put a document with all its versions in the trash. */
    '/api/documents/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      reply: DeletedDocument;
    };
    /** Take what the caller deleted out of the trash for good. */
    '/api/trash': {
      reply: Emptied;
    };
    /** Take something out of the trash for good. */
    '/api/trash/{id}': {
      params: {
        path: {
          id: string;
        };
      };
      reply: Purged;
    };
    /** Retire an executor: its token ends and the jobs it holds go back to their queues. */
    '/api/executors/{id}': {
      params: {
        path: {
          id: string;
        };
      };
      reply: RetiredExecutor;
    };
    /** Revoke an API token; told is what it gave, which outlives it. */
    '/api/tokens/{id}': {
      params: {
        path: {
          id: string;
        };
      };
      reply: RevokedToken;
    };
    /** Put an object with all its versions in the trash. */
    '/api/repo-obj/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      reply: DeletedObject;
    };
    /** Revoke an access key; links signed with it stop working. */
    '/api/s3/credentials/{id}': {
      params: {
        path: {
          id: string;
        };
      };
      reply: RevokedKey;
    };
    /** Delete a trigger and its history; runs that it started remain. */
    '/api/doc-triggers/{id}': {
      params: {
        path: {
          id: string;
        };
        header?: {
          'If-Match'?: string;
        };
      };
      reply: DeletedTrigger;
    };
  };
}
