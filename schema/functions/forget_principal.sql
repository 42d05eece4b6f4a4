-- Deletes the shares of a user or team that was deleted. The argument is the prefix of principals.
create or replace function dws.forget_principal()
  returns trigger
  language plpgsql
as $$
begin delete from dws.share where tenant_id = old.tenant_id and principal = tg_argv[0] || old.id; return null; end
$$;
