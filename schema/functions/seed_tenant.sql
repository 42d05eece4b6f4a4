-- Creates the usage profiles of a new tenant.
create or replace function dws.seed_tenant()
  returns trigger
  language plpgsql
as $$
begin
  perform dws.seed_usage_profiles(new.id);
  return null;
end
$$;
