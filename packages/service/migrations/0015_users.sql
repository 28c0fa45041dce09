-- Single sign-on of an organization through its own identity provider (SAML 2.0).
create table sso_connections (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  name text not null,
  public_name text not null,
  description text not null,
  entity_id text not null,
  metadata_url text not null,
  email_domains text[] not null,
  -- Role of users who sign in for the first time without an invitation; null: they are refused.
  default_role_id text,
  -- Seconds; null: USER_SESSION_HOURS.
  session_timeout integer,
  -- Sign-on address and certificates, from the metadata that was last read.
  idp jsonb not null,
  idp_read_at timestamptz (3) not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index sso_connections_by_organization on sso_connections (organization_id, created_at, id);
create index sso_connections_by_domain on sso_connections using gin (email_domains);

-- People. Those of a connection are apart from all others: the identity provider of an organization
-- can name any address, and reaches nothing but that organization.
create table users (
  id text primary key,
  connection_id text references sso_connections (id) on delete cascade,
  -- Lower case.
  email text not null,
  username text not null,
  email_verified_at timestamptz (3),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  unique nulls not distinct (connection_id, email)
);
create index users_by_email on users (email);

-- How a user is recognized: by its issuer and subject there, never by an address.
create table user_identities (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  provider text not null,
  -- Of OpenID Connect: the issuer. Of SAML: the ID of the connection. Otherwise empty.
  issuer text not null,
  subject text not null,
  created_at timestamptz (3) not null,
  unique (provider, issuer, subject)
);
create index user_identities_by_user on user_identities (user_id, created_at, id);

create table local_credentials (
  user_id text primary key references users (id) on delete cascade,
  password text not null,
  totp bytea,
  -- The last time step whose code was accepted; a code is accepted once.
  totp_step bigint not null,
  totp_created_at timestamptz (3),
  recovery_codes text[] not null,
  updated_at timestamptz (3) not null
);

create table memberships (
  organization_id text not null references organizations (id) on delete cascade,
  user_id text not null references users (id) on delete cascade,
  -- No foreign key, as for API keys: a default role has no row.
  role_id text not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  primary key (organization_id, user_id)
);
create index memberships_by_user on memberships (user_id);
create index memberships_by_role on memberships (organization_id, role_id);

-- Each request of a user reads its row, so that a deleted one ends the tokens at once.
create table sign_ins (
  id text primary key,
  user_id text not null references users (id) on delete cascade,
  method text not null,
  -- Number of the refresh token that is accepted.
  generation integer not null,
  rotated_at timestamptz (3) not null,
  created_at timestamptz (3) not null,
  expires_at timestamptz (3) not null
);
create index sign_ins_by_user on sign_ins (user_id);
create index sign_ins_by_expiry on sign_ins (expires_at);

create table invitations (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  email text not null,
  role_id text not null,
  digest bytea not null unique,
  -- Whether it was sent to the address, so that its link proves that the reader owns it.
  mailed boolean not null,
  created_at timestamptz (3) not null,
  expires_at timestamptz (3) not null,
  unique (organization_id, email)
);
create index invitations_by_email on invitations (email);
create index invitations_by_role on invitations (organization_id, role_id);
create index invitations_by_expiry on invitations (expires_at);

-- What can be redeemed once: codes of a console, links in mails, validated SAML responses.
create table sign_in_tickets (
  digest bytea primary key,
  purpose text not null,
  user_id text references users (id) on delete cascade,
  content jsonb not null,
  expires_at timestamptz (3) not null
);
create index sign_in_tickets_by_expiry on sign_in_tickets (expires_at);

-- Assertions that were accepted, until they expire by themselves.
create table saml_assertions (
  connection_id text not null references sso_connections (id) on delete cascade,
  assertion_id text not null,
  expires_at timestamptz (3) not null,
  primary key (connection_id, assertion_id)
);
create index saml_assertions_by_expiry on saml_assertions (expires_at);

-- Feature flags that the operator sets for an organization or a user.
create table feature_overrides (
  id text primary key,
  feature text not null,
  organization_id text references organizations (id) on delete cascade,
  user_id text references users (id) on delete cascade,
  enabled boolean not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (num_nonnulls(organization_id, user_id) = 1)
);
create unique index feature_overrides_by_organization on feature_overrides (organization_id, feature)
  where organization_id is not null;
create unique index feature_overrides_by_user on feature_overrides (user_id, feature)
  where user_id is not null;

-- `is_operator`: created by `bootstrap`, for the operator of the service.
alter table api_keys
  add column created_by jsonb,
  add column is_operator boolean not null default false;
