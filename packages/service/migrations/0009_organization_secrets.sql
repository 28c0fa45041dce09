-- Secrets that several connectors can use. The sealed value authenticates `destinations` and
-- `restricted`. A connector that uses one has a row in `secrets` with its id in `secret_id`; that id
-- is also what the row seals, bound to the connector's destination.
create table organization_secrets (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  name text not null,
  description text not null,
  key_id text not null references data_keys (id) on delete cascade,
  sealed bytea not null,
  destinations jsonb not null,
  restricted boolean not null,
  version integer not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index organization_secrets_by_organization on organization_secrets (organization_id, created_at, id);

-- Cascades, because the removal of an organization removes both sides in any order. The service
-- locks a secret and checks that nothing uses it before it deletes one.
alter table secrets add column secret_id text references organization_secrets (id) on delete cascade;
create index secrets_by_secret on secrets (secret_id) where secret_id is not null;
