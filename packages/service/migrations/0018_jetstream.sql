-- Streams of the bus in NATS JetStream (NATS_URL), and how far each consumer has acknowledged them. What
-- flows is in JetStream.
create table jetstream_streams (
  name text collate "C" primary key,
  -- Number of the JetStream stream that holds its batches.
  shard integer not null,
  consumers jsonb not null,
  -- Stored records that can't be read anymore.
  lost jsonb
);

create table jetstream_positions (
  stream text collate "C" not null references jetstream_streams (name) on delete cascade,
  consumer text collate "C" not null,
  -- Batches up to the position, which only increases.
  number bigint not null,
  position jsonb not null,
  primary key (stream, consumer)
);
