create table roles (
  id text primary key,
  organization_id text not null references organizations (id) on delete cascade,
  name text not null,
  description text not null,
  permissions text[] not null,
  created_at timestamptz (3) not null,
  updated_at timestamptz (3) not null
);
create index roles_by_organization on roles (organization_id, created_at, id);

-- `role_id` has no foreign key: it may name a default role, which has no row. A key whose role does
-- not exist has no permission.
alter table api_keys
  add column description text not null default '',
  add column role_id text,
  add column token_version integer not null default 1,
  add column updated_at timestamptz (3) not null default now();
update api_keys set updated_at = created_at;
create index api_keys_by_role on api_keys (organization_id, role_id) where role_id is not null;
