-- Inputs that listen have a port of their own, of all organizations together.
alter table connectors add column port integer unique;

-- When each was given last. One that was free for longest is given next: senders of a connector that is gone
-- may still send there, and what they send must not reach the next one's owner.
create table ports (
  port integer primary key,
  given_at timestamptz (3) not null
);
