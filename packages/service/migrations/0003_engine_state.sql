-- What the engine must know again after a restart: cursors, the last reports, and who it is. Small values by key.
-- The value is JSON as text: what a source gave as its cursor comes back as it was, and is never searched.
create table engine_state (
  key text collate "C" primary key,
  version integer not null,
  value text not null
);
