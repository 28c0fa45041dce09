-- One row for each change of a configured resource, written in the transaction of the change.
-- `organization_id` has no foreign key: the rows outlive a deleted organization until their retention
-- ends, so that a deletion does not remove what led to it.
create table audit_logs (
  id text primary key,
  sequence bigint generated always as identity,
  organization_id text not null,
  occurred_at timestamptz (3) not null,
  request_id text not null,
  action text not null,
  resource_type text not null,
  resource_id text not null,
  -- The API key that acted, or that created the session that acted.
  api_key_id text,
  actor jsonb not null,
  old jsonb,
  new jsonb,
  -- The pipeline itself, or the pipelines that used the component when it was changed.
  pipeline_ids text[] not null
);
create index audit_logs_by_organization on audit_logs (organization_id, occurred_at, sequence);
create index audit_logs_by_resource on audit_logs (organization_id, resource_id, occurred_at, sequence);
create index audit_logs_by_api_key on audit_logs (organization_id, api_key_id, occurred_at, sequence);
create index audit_logs_by_pipeline on audit_logs using gin (pipeline_ids);
create index audit_logs_by_time on audit_logs (occurred_at);
