-- State that the engine needs after a restart: cursors, the last reports, and its identity. Small
-- values by key. The value is JSON as text: a cursor is returned exactly as the source gave it, and
-- is never searched.
create table engine_state (
  key text collate "C" primary key,
  version integer not null,
  value text not null
);
