-- A sealed value authenticates its destination itself. The column remains for rows that a release before this one sealed;
-- they are sealed again in the background, and nothing writes it any more. A replica of an earlier release that is still
-- running fails to store a secret, rather than storing one that this release would refuse.
alter table secrets alter column destination drop not null;
alter table secrets add constraint secrets_destination_is_sealed check (destination is null) not valid;
create index secrets_in_format_1 on secrets (connector_id) where destination is not null;
