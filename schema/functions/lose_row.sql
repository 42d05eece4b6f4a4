-- Fails, because another transaction has deleted the row that a statement writes.
create or replace function dws.lose_row()
  returns void
  language plpgsql
as $$
begin
  raise exception 'Another transaction has deleted the row' using errcode = 'DW001';
end
$$;
