-- Enrichments are a third kind of connectors. `refers_to` is the output that the settings of one
-- name: the output can't be deleted before it. The cascade from their organization deletes both in
-- one statement.
alter table connectors drop constraint connectors_kind_check;
alter table connectors add constraint connectors_kind_check check (kind in ('input', 'output', 'enrichment'));
alter table connectors add column refers_to text references connectors (id);
create index connectors_by_reference on connectors (refers_to) where refers_to is not null;

-- A row for each output that has written key-value entries. The counts are those of its entries,
-- also of expired ones that are not deleted yet; writes lock the row and update them.
create table key_value_tables (
  connector_id text primary key references connectors (id) on delete cascade,
  organization_id text not null references organizations (id) on delete cascade,
  keys bigint not null,
  bytes bigint not null,
  written_at timestamptz (3)
);
create index key_value_tables_by_organization on key_value_tables (organization_id);

-- `digest` is the SHA-256 of the key: of fixed size, and any text can be a key. No foreign key to the
-- table: deleting millions of entries would exceed the time of the request that deletes the output.
create table key_value_entries (
  connector_id text not null,
  digest bytea not null,
  value text not null,
  bytes integer not null,
  updated_at timestamptz (3) not null,
  expires_at timestamptz (3),
  primary key (connector_id, digest)
);
create index key_value_entries_by_expiry on key_value_entries (connector_id, expires_at) where expires_at is not null;

-- Tables whose entries are left to delete. A trigger, because outputs are also deleted with their
-- organization.
create table removed_key_value_tables (
  connector_id text primary key
);
create function note_removed_key_value_table() returns trigger language plpgsql as $$
begin
  insert into removed_key_value_tables (connector_id) values (old.connector_id) on conflict do nothing;
  return null;
end
$$;
create trigger key_value_tables_removed after delete on key_value_tables
  for each row execute function note_removed_key_value_table();
