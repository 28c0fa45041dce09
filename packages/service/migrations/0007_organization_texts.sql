alter table organizations
  add column description text not null default '',
  add column friendly_name text not null default '';
