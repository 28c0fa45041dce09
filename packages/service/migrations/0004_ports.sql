-- The port of an input that listens, unique across all organizations.
alter table connectors add column port integer unique;

-- Ports of deleted connectors. Their senders may still be active, and what they send must not reach
-- the owner of the next connector: the port that has been free for longest is assigned next.
create table freed_ports (
  port integer primary key,
  freed_at timestamptz (3) not null
);

-- A trigger, because connectors are also deleted with their organization.
create function keep_freed_port() returns trigger language plpgsql as $$
begin
  insert into freed_ports (port, freed_at) values (old.port, clock_timestamp())
    on conflict (port) do update set freed_at = excluded.freed_at;
  return null;
end
$$;
create trigger connectors_free_port after delete on connectors
  for each row when (old.port is not null) execute function keep_freed_port();
