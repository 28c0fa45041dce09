-- Inputs that listen have a port of their own, of all organizations together.
alter table connectors add column port integer unique;

-- Ports of connectors that are gone. Senders may still be there, and what they send must not reach the next one's
-- owner: the port that has been free for longest is given next.
create table freed_ports (
  port integer primary key,
  freed_at timestamptz (3) not null
);

-- Connectors go also with their organization, so the database itself keeps this.
create function keep_freed_port() returns trigger language plpgsql as $$
begin
  insert into freed_ports (port, freed_at) values (old.port, clock_timestamp())
    on conflict (port) do update set freed_at = excluded.freed_at;
  return null;
end
$$;
create trigger connectors_free_port after delete on connectors
  for each row when (old.port is not null) execute function keep_freed_port();
