-- Definitions of pipelines, which the engine reads.

create table transforms (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  name text not null,
  description text not null,
  config jsonb not null,
  version integer not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index transforms_by_organization on transforms (organization_id, created_at, id);

create table pipelines (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  name text not null,
  description text not null,
  enabled boolean not null,
  nodes jsonb not null,
  edges jsonb not null,
  version integer not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index pipelines_by_organization on pipelines (organization_id, created_at, id);

-- The components of a pipeline, one row each: to find pipelines by component, and to prevent the
-- deletion of a component in use. organization_id allows deleting an organization in one statement:
-- the cascade deletes these rows before the foreign keys to their components are checked.
create table pipeline_components (
  pipeline_id text not null references pipelines (id) on delete cascade,
  organization_id text not null references organizations (id) on delete cascade,
  connector_id text references connectors (id),
  transform_id text references transforms (id),
  check (num_nonnulls(connector_id, transform_id) = 1)
);
create index pipeline_components_by_pipeline on pipeline_components (pipeline_id);
create index pipeline_components_by_organization on pipeline_components (organization_id);
create index pipeline_components_by_connector on pipeline_components (connector_id);
create index pipeline_components_by_transform on pipeline_components (transform_id);
