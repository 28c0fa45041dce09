-- Outputs and secrets that an organization shares with its teams. The owner is the organization of
-- the connector or the secret, which is always the parent of the team.
create table resource_shares (
  id text primary key,
  owner_organization_id text not null references organizations (id) on delete cascade,
  target_organization_id text not null references organizations (id) on delete cascade,
  connector_id text references connectors (id) on delete cascade,
  secret_id text references organization_secrets (id) on delete cascade,
  created_at timestamptz (3) not null,
  check (num_nonnulls(connector_id, secret_id) = 1)
);
create unique index resource_shares_by_connector on resource_shares (connector_id, target_organization_id)
  where connector_id is not null;
create unique index resource_shares_by_secret on resource_shares (secret_id, target_organization_id)
  where secret_id is not null;
create index resource_shares_by_owner on resource_shares (owner_organization_id);
create index resource_shares_by_target on resource_shares (target_organization_id);

-- The outputs and secrets that new teams get.
create table share_policies (
  id text primary key,
  owner_organization_id text not null references organizations (id) on delete cascade,
  connector_id text unique references connectors (id) on delete cascade,
  secret_id text unique references organization_secrets (id) on delete cascade,
  created_at timestamptz (3) not null,
  check (num_nonnulls(connector_id, secret_id) = 1)
);
create index share_policies_by_owner on share_policies (owner_organization_id);
