-- What nodes of pipelines have received and delivered. Nothing here refers to a pipeline or an
-- organization by a foreign key: usage outlives them. Times are whole minutes, hours or days since
-- 1970 in UTC, so that sums by hour and day are integer divisions.

-- A node with the component that it had. Another component makes another series. Rows are never
-- deleted, because the engine remembers their ids.
create table usage_series (
  id integer generated always as identity primary key,
  organization_id text not null,
  -- The parent of a team: it reads the usage of teams that no longer exist, too.
  parent_id text,
  pipeline_id text not null,
  node_id text not null,
  component_type text not null,
  component_id text not null,
  -- Type of the connector; empty for a transform.
  type text not null,
  -- Component of the pipeline's input; empty if it has none.
  input_id text not null,
  unique (pipeline_id, node_id, component_id, type, input_id)
);
create index usage_series_by_organization on usage_series (organization_id);
create index usage_series_by_parent on usage_series (parent_id);

-- Amounts of one minute. Those of older minutes are moved to the first minute of their hour.
create table usage_counts (
  series_id integer not null references usage_series (id),
  minute integer not null,
  ingress_bytes bigint not null,
  ingress_records bigint not null,
  egress_bytes bigint not null,
  egress_records bigint not null,
  errors bigint not null,
  -- Of an output: records of the input before conditions and transforms.
  unfiltered_bytes bigint not null,
  unfiltered_records bigint not null,
  primary key (series_id, minute)
);
create index usage_counts_by_minute on usage_counts (minute);
create index usage_counts_to_move on usage_counts (minute) where minute % 60 <> 0;

-- Sums by organization and day, for quotas: ingress of inputs, egress of outputs.
create table usage_days (
  organization_id text not null,
  day integer not null,
  ingress_bytes bigint not null,
  egress_bytes bigint not null,
  primary key (organization_id, day)
);

-- The last batch of amounts that each engine has added. A batch is added once, however often it is
-- sent.
create table usage_writers (
  holder text primary key,
  sequence bigint not null,
  written_at timestamptz (3) not null
);

-- Hours of pipelines, to send to the webhook of the host. `next_attempt_at` is null for an hour that
-- was sent and has not changed since.
create table usage_events (
  organization_id text not null,
  parent_id text,
  pipeline_id text not null,
  hour integer not null,
  -- Increases when amounts are added after the hour became due.
  changes integer not null,
  -- Acknowledged by the webhook: how often, and the sums by then.
  revision integer not null,
  sent jsonb,
  -- Sums of the next revision, from its first attempt on: each attempt must send the same.
  sending jsonb,
  attempts integer not null,
  next_attempt_at timestamptz (3),
  primary key (pipeline_id, hour)
);
create index usage_events_due on usage_events (next_attempt_at) where next_attempt_at is not null;

-- What it costs an organization to store 10^9 bytes at its destinations, in billionths of a US dollar.
create table storage_type_costs (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  storage_type text not null,
  nanodollars_per_gb bigint not null,
  unique (organization_id, storage_type)
);

-- What a parent organization sells to its teams. Prices never change once an account has had it.
create table billing_products (
  id text primary key,
  owner_organization_id text not null references organizations (id) on delete cascade,
  slug text not null,
  name text not null,
  description text not null,
  features text[] not null,
  contact_email text,
  product_type text not null,
  is_default boolean not null,
  is_active boolean not null,
  recurring_cost_cents bigint not null,
  recurring_frequency text not null,
  usage_unit text,
  usage_unit_cost_cents bigint not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  unique (owner_organization_id, slug)
);
create unique index billing_products_default on billing_products (owner_organization_id) where is_default;

-- Organizations that a parent organization bills together. A deleted account keeps its row, so that its
-- statements can be read.
create table billing_accounts (
  id text primary key,
  owner_organization_id text not null references organizations (id) on delete cascade,
  name text not null,
  description text not null,
  billing_email text not null,
  suspend_on timestamptz (3),
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  deleted_at timestamptz (3)
);
create index billing_accounts_by_owner on billing_accounts (owner_organization_id, created_at, id);

-- Which organization was in which account, by whole hours. `organization_id` has no foreign key: the
-- usage of a deleted team stays in the statements of its account.
create table billing_members (
  id text primary key,
  owner_organization_id text not null references organizations (id) on delete cascade,
  billing_account_id text not null references billing_accounts (id) on delete cascade,
  organization_id text not null,
  starts_at timestamptz (3) not null,
  ends_at timestamptz (3)
);
create index billing_members_by_account on billing_members (billing_account_id);
create unique index billing_members_now on billing_members (organization_id) where ends_at is null;

-- Which account has which product. A row that begins later is the next product.
create table billing_subscriptions (
  id text primary key,
  owner_organization_id text not null references organizations (id) on delete cascade,
  billing_account_id text not null references billing_accounts (id) on delete cascade,
  product_id text not null references billing_products (id),
  starts_at timestamptz (3) not null,
  ends_at timestamptz (3)
);
create index billing_subscriptions_by_account on billing_subscriptions (billing_account_id, starts_at);
create index billing_subscriptions_by_product on billing_subscriptions (product_id);

create table billing_roles (
  id text primary key,
  owner_organization_id text not null references organizations (id) on delete cascade,
  billing_account_id text not null references billing_accounts (id) on delete cascade,
  name text not null,
  description text not null,
  permissions text[] not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index billing_roles_by_account on billing_roles (billing_account_id, created_at, id);

create table billing_role_users (
  id text primary key,
  owner_organization_id text not null references organizations (id) on delete cascade,
  billing_role_id text not null references billing_roles (id) on delete cascade,
  email text not null,
  created_at timestamptz (3) not null,
  unique (billing_role_id, email)
);

create table quotas (
  id text primary key,
  -- The parent organization that sets it.
  owner_organization_id text not null references organizations (id) on delete cascade,
  organization_id text references organizations (id) on delete cascade,
  billing_account_id text references billing_accounts (id) on delete cascade,
  name text not null,
  limit_type text not null,
  limit_amount bigint not null,
  timeframe text not null,
  action text not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null,
  check (num_nonnulls(organization_id, billing_account_id) = 1)
);
create index quotas_by_owner on quotas (owner_organization_id, created_at, id);
create index quotas_by_organization on quotas (organization_id);
create index quotas_by_account on quotas (billing_account_id);
