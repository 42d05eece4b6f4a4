-- Deletes shares, tags and favorites of a resource that was deleted.
create or replace function dws.forget_resource()
  returns trigger
  language plpgsql
as $$
begin
  delete from dws.share where tenant_id = old.tenant_id and resource_id = old.id;
  delete from dws.tag_assignment where tenant_id = old.tenant_id and resource_id = old.id;
  delete from dws.favorite where tenant_id = old.tenant_id and resource_id = old.id;
  return null;
end
$$;
