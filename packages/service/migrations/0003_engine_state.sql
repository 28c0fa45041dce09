-- State of the engine that survives a restart: cursors, last reports and the engine's identity. Small
-- values by key. The value is JSON stored as text: a source's cursor is returned unchanged and never
-- queried.
create table engine_state (
  key text collate "C" primary key,
  version integer not null,
  value text not null
);
