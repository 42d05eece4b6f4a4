/** Columns of all rows of the unit of work, see entities/tenant-row.ts. */
export const ROW = `id uuid primary key, tenant_id uuid not null references dws.tenant,
  version integer not null default 1,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now()`;

const TENANT = `(select current_setting('app.tenant')::uuid)`;

/** Returns SQL that enables row-level security for a new table: `dws_app` sees its tenant, `dws_system` all tenants. */
export const ofTenants = (
  table: string,
): string => `alter table dws.${table} enable row level security; alter table dws.${table} force row level security;
  create policy tenant on dws.${table} to dws_app using (tenant_id = ${TENANT}) with check (tenant_id = ${TENANT});
  create policy system on dws.${table} to dws_system using (true) with check (true);
  grant select, insert, update, delete on dws.${table} to dws_app, dws_system;`;
