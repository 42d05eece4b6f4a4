-- Creates the profiles that every tenant has.
create or replace function dws.seed_usage_profiles(tenant uuid)
  returns void
  language sql
as $$
insert into dws.usage_profile
  (id, tenant_id, name, slug, description, credit_cap_per_month, allowed_model_tiers, is_default, system, created_at)
values
  (
    dws.new_id(), tenant, 'Standard', 'standard', 'Everyday and advanced models, up to 1,000 credits a month.', 1000,
    '["everyday", "advanced"]', true, true, now() - interval '1 ms'
  ),
  (
    dws.new_id(), tenant, 'Premium', 'premium', 'All models, without a monthly cap.', null,
    '["everyday", "advanced", "strategic"]', false, true, now()
  );
$$;
