-- Accounts that customers connect at vendors (OAuth 2.0). A row lives from the button in the form
-- until the connector is saved, for minutes.
create table consents (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  session_id text not null,
  kind text not null,
  type_id text not null,
  -- Digest of `state`, which only the browser and the vendor know.
  state_digest bytea not null unique,
  -- Digest of the cookie of the window that went to the vendor; null: no window has yet.
  browser_digest bytea,
  -- Digest of the settings that decide where the token is sent.
  destination bytea not null,
  status text not null,
  -- Until it is granted, what redeems the code; then the tokens.
  sealed bytea not null,
  account text,
  created_at timestamptz (3) not null,
  expires_at timestamptz (3) not null
);
create index consents_by_organization on consents (organization_id);
create index consents_by_expiry on consents (expires_at);

-- Of a secret that is a connected account: its name, and whether it has to be connected again. The
-- sealed value contains its tokens.
alter table secrets add column consent jsonb;
