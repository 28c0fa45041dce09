-- PostgreSQL 15 syntax: the same text runs on PGlite and on PostgreSQL.

create table organizations (
  id text primary key,
  parent_id text references organizations (id) on delete cascade,
  name text not null,
  allowed_origins text[] not null default '{}',
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index organizations_by_parent on organizations (parent_id, created_at, id);
create index organizations_by_origin on organizations using gin (allowed_origins);

-- One data key per organization and one for the service itself (organization_id is null), each
-- wrapped by the master key.
create table data_keys (
  id text primary key,
  organization_id text unique references organizations (id) on delete cascade,
  master_key_id text not null,
  wrapped bytea not null,
  created_at timestamptz (3) not null
);

-- The key itself is shown once and never stored; only its HMAC is.
create table api_keys (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  name text not null,
  digest bytea not null unique,
  hint text not null,
  permissions text[] not null,
  created_at timestamptz (3) not null,
  expires_at timestamptz (3),
  revoked_at timestamptz (3)
);
create index api_keys_by_organization on api_keys (organization_id, created_at, id);

create table connectors (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  kind text not null check (kind in ('input', 'output')),
  type text not null,
  name text not null,
  description text not null,
  settings jsonb not null,
  version integer not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index connectors_by_organization on connectors (organization_id, kind, created_at, id);

-- destination is a digest of the destination for which the value was entered.
create table secrets (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  connector_id text not null references connectors (id) on delete cascade,
  field text not null,
  name text not null,
  description text not null,
  key_id text not null references data_keys (id) on delete cascade,
  sealed bytea not null,
  destination text not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  unique (connector_id, field)
);
create index secrets_by_organization on secrets (organization_id);

create table idempotency_keys (
  organization_id text not null references organizations (id) on delete cascade,
  key text not null,
  request_digest bytea not null,
  owner text not null,
  locked_until timestamptz (3) not null,
  expires_at timestamptz (3) not null,
  answer text,
  primary key (organization_id, key)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

-- Counters may be lost in a crash, so they need no write-ahead log. rate-limiter-flexible requires
-- these columns.
create unlogged table rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
