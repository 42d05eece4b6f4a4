-- Returns the time since when usage events are kept.
create or replace function dws.usage_kept_since()
  returns timestamp with time zone
  language sql
  stable
as $$
select (date_trunc('day', now() at time zone 'UTC') - interval '25 months') at time zone 'UTC'
$$;
