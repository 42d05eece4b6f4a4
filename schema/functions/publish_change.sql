-- Notifies the processes that a row has changed. Arguments: the channel, and the column that is sent.
create or replace function dws.publish_change()
  returns trigger
  language plpgsql
as $$
declare
  r record;
begin
  if tg_op = 'DELETE' then r := old; else r := new; end if;
  perform pg_notify(tg_argv[0], to_jsonb(r) ->> tg_argv[1]);
  return null;
end
$$;
