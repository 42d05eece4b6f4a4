-- Refuses changes of the usage ledger, except that events past their retention are deleted.
create or replace function dws.keep_usage_event()
  returns trigger
  language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    if old.occurred_at < dws.usage_kept_since() then return old; end if;
  end if;
  raise exception 'The usage ledger is append-only' using errcode = 'restrict_violation';
end
$$;
