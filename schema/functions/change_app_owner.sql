-- Withdraws the acceptance of an app that gets another user as owner. Teams accept by their members.
create or replace function dws.change_app_owner()
  returns trigger
  language plpgsql
as $$
begin
  new.accepted := new.owner_id not like 'user:%';
  return new;
end
$$;
