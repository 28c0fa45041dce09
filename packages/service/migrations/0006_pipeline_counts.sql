-- Counts of each pipeline, by node, since its creation: as they were at the end of a minute in which
-- they changed. Because they are totals, a repeated write changes nothing, and rows in between can be
-- deleted without losing what was counted.
create table pipeline_counts (
  pipeline_id text not null references pipelines (id) on delete cascade,
  minute timestamptz (3) not null,
  nodes jsonb not null,
  primary key (pipeline_id, minute)
);
create index pipeline_counts_by_minute on pipeline_counts (minute);
