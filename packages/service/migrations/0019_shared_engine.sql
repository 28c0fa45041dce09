-- Buffers of pushed records for several engines (ENGINE=shared). A batch is deleted once every
-- consumer of its stream has passed it.
create table bus_streams (
  id bigint generated always as identity primary key,
  name text collate "C" not null unique,
  -- Version of the pipeline that declared the consumers last. An older one changes nothing.
  version bigint not null,
  -- Totals of what was stored or dropped for all consumers.
  sequence bigint not null,
  batches bigint not null,
  records bigint not null,
  bytes bigint not null
);

-- The totals are those of the stream up to the position of the consumer, and of what it does not
-- receive behind it, so that its backlog is a difference.
create table bus_consumers (
  stream_id bigint not null references bus_streams (id) on delete cascade,
  name text collate "C" not null,
  policy text not null,
  max_bytes bigint not null,
  sequence bigint not null,
  batches bigint not null,
  records bigint not null,
  bytes bigint not null,
  is_blocking boolean not null,
  is_dropping boolean not null,
  dropped_batches bigint not null,
  dropped_records bigint not null,
  dropped_bytes bigint not null,
  primary key (stream_id, name)
);

create table bus_batches (
  stream_id bigint not null references bus_streams (id) on delete cascade,
  sequence bigint not null,
  id text not null,
  body bytea not null,
  records integer not null,
  -- Size of the records, and with what is stored beside them.
  record_bytes integer not null,
  bytes integer not null,
  published_at bigint not null,
  -- Consumers that do not receive it.
  dropped_for text[] not null,
  primary key (stream_id, sequence)
);

-- Ids of the last batches, to detect duplicates of those that are deleted already.
create table bus_batch_ids (
  stream_id bigint not null references bus_streams (id) on delete cascade,
  id text collate "C" not null,
  sequence bigint not null,
  primary key (stream_id, id)
);
create index bus_batch_ids_by_sequence on bus_batch_ids (stream_id, sequence);

-- Processes that run pipelines together. `expires_at` is in milliseconds since the epoch on the clock of
-- the database.
create table engine_members (
  id text collate "C" primary key,
  -- It takes no more pipelines, and hands over those it has.
  is_leaving boolean not null,
  -- Where it has its buffers: all members must have them at the same place.
  buffers text,
  expires_at bigint not null
);

-- Which member runs a pipeline. Free without a member, or if the member has expired or is gone.
create table engine_leases (
  pipeline_id text collate "C" primary key,
  member_id text collate "C",
  -- Fencing token: increases each time the lease is acquired.
  token bigint not null
);
create index engine_leases_by_member on engine_leases (member_id);

-- Counts of records that a member has accepted for a pipeline of another one, until that one adds them.
create table engine_counts (
  id bigint generated always as identity primary key,
  pipeline_id text collate "C" not null,
  counts text not null
);
create index engine_counts_by_pipeline on engine_counts (pipeline_id);

-- Dead letters of a shared engine, and how many there are of each node.
create table engine_letters (
  pipeline_id text collate "C" not null,
  node_id text collate "C" not null,
  sequence bigint not null,
  stored_at bigint not null,
  reason text not null,
  record_id text not null,
  line bytea not null,
  bytes integer not null,
  replays integer not null,
  is_replaying boolean not null,
  primary key (pipeline_id, node_id, sequence)
);
create index engine_letters_replaying on engine_letters (pipeline_id, node_id, sequence) where is_replaying;

create table engine_letter_counts (
  pipeline_id text collate "C" not null,
  node_id text collate "C" not null,
  count bigint not null,
  bytes bigint not null,
  last_sequence bigint not null,
  primary key (pipeline_id, node_id)
);

-- Logs of pipelines, and of the API without a pipeline. Written one transaction after the other, so that
-- a reader misses no sequence.
create table engine_logs (
  sequence bigint generated always as identity primary key,
  organization_id text collate "C",
  pipeline_id text collate "C",
  logged_at bigint not null,
  entry text not null
);
create index engine_logs_by_pipeline on engine_logs (pipeline_id, sequence);
create index engine_logs_by_organization on engine_logs (organization_id, sequence);

-- Requests to the member that runs a pipeline, and its responses. They live for seconds.
create table engine_requests (
  id text primary key,
  pipeline_id text collate "C" not null,
  method text not null,
  parameters text not null,
  response text,
  created_at bigint not null
);
create index engine_requests_open on engine_requests (pipeline_id) where response is null;

-- Version of the pipeline that declared the consumers last. Processes that share pipelines ignore an
-- earlier one.
alter table jetstream_streams add column version bigint not null default 0;
