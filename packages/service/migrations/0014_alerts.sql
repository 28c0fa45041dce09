-- Rules that the engine evaluates.
create table alert_rules (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  name text not null,
  description text not null,
  type text not null,
  severity text not null,
  active boolean not null,
  pipeline_ids text[] not null,
  invert_selection boolean not null,
  rule_config jsonb not null,
  version integer not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index alert_rules_by_organization on alert_rules (organization_id, created_at, id);

-- One row per incident. It outlives its rule, its pipeline and its node, so there are no foreign keys
-- to them.
create table alerts (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  rule_id text not null,
  rule_type text not null,
  name text not null,
  description text not null,
  severity text not null,
  -- Null for an alert about the organization.
  pipeline_id text,
  resource_type text not null,
  resource_id text not null,
  metadata jsonb not null,
  created_at timestamptz (3) not null,
  -- When it was sent last as firing.
  fired_at timestamptz (3) not null,
  -- The last log entry that the rule matched; null for rules that do not read logs.
  last_match_at timestamptz (3),
  clearing_started_at timestamptz (3),
  -- Null while it is firing.
  resolved_at timestamptz (3)
);
-- A rule has at most one incident per resource at a time.
create unique index alerts_firing on alerts (rule_id, resource_id) where resolved_at is null;
create index alerts_by_organization on alerts (organization_id, created_at, id);
create index alerts_by_resolution on alerts (resolved_at) where resolved_at is not null;

-- What happened to alerts, written in the transaction that changes the alert. Pipelines and streams
-- read it in the order of the sequence: only the holder of the engine's lease writes it, one
-- transaction after the other, so a lower sequence never becomes visible after a higher one.
create table alert_events (
  sequence bigint generated always as identity primary key,
  organization_id text not null references organizations (id) on delete cascade,
  alert_id text not null,
  pipeline_id text,
  event text not null,
  occurred_at timestamptz (3) not null,
  -- The alert as it was then, in API format.
  alert jsonb not null
);
create index alert_events_by_organization on alert_events (organization_id, sequence);
create index alert_events_by_alert on alert_events (alert_id, sequence);
create index alert_events_by_time on alert_events (occurred_at);

-- Where the inputs that deliver alerts begin: after the last event before the engine first saw them.
-- The cursor of such an input exists only once its outputs have been reached.
create table alert_feeds (
  pipeline_id text not null references pipelines (id) on delete cascade,
  node_id text not null,
  begins_after bigint not null,
  primary key (pipeline_id, node_id)
);
