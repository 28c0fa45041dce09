-- What the engine has learned about the records on an edge: names and types of fields, never values.
-- Names come from the records and are stored as text, because jsonb can't contain all of them.
create table edge_schemas (
  pipeline_id text not null references pipelines (id) on delete cascade,
  edge_id text not null,
  state text not null,
  primary key (pipeline_id, edge_id)
);

create table edge_schema_events (
  id text primary key,
  pipeline_id text not null references pipelines (id) on delete cascade,
  edge_id text not null,
  occurred_at timestamptz (3) not null,
  tags text[] not null,
  fields text not null,
  field_count integer not null
);
create index edge_schema_events_by_edge on edge_schema_events (pipeline_id, edge_id, occurred_at, id);
