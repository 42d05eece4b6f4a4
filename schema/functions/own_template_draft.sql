-- Gives the draft of a template the owner of the template.
create or replace function dws.own_template_draft()
  returns trigger
  language plpgsql
as $$
begin
  update dws.template set owner_id = new.owner_id where tenant_id = new.tenant_id and parent_id = new.id;
  return null;
end
$$;
