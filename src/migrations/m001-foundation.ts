import { Migration } from '@mikro-orm/migrations';

/** Columns of all tables with rows of tenants, and of all tables of kinds with an owner. */
const row = `id uuid primary key, tenant_id uuid not null references dws.tenant, version integer not null default 1,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now()`;
const owned = `${row}, name text not null, slug text not null, description text, owner_id text not null,
  folder_id uuid`;

/** Creates tenants, users, credentials, teams, datasources, saved queries, datasets, generations and operations. */
export class Foundation extends Migration {
  override up(): void {
    this.addSql(
      `create table dws.tenant (id uuid primary key, slug text not null unique,
        created_at timestamptz not null default now());`,
    );
    this.addSql(`create table dws.setting (name text primary key, value text not null);`);

    this.addSql(`create table dws.app_user (${row}, username text not null, domain text not null default 'local',
      password_hash text,
      display_name text, given_name text, family_name text, middle_name text, email text,
      enabled boolean not null default false,
      superuser boolean not null default false, timezone text, settings jsonb not null default '{}',
      permissions jsonb not null default '[]',
      locked_at timestamptz, login_attempts integer not null default 0, password_set_at timestamptz,
      password_expires_at timestamptz);`);
    this.addSql(`create unique index app_user_username on dws.app_user (tenant_id, lower(username));`);
    this.addSql(`create table dws.session (${row},
      user_id uuid not null references dws.app_user on delete cascade, token_hash text not null unique,
      address text, user_agent text, last_used_at timestamptz not null, expires_at timestamptz not null);`);
    this.addSql(`create index session_of_user on dws.session (tenant_id, user_id);`);
    this.addSql(`create table dws.api_token (${row},
      user_id uuid not null references dws.app_user on delete cascade, name text not null,
      token_hash text not null unique, prefix text not null, scopes jsonb not null, last_used_at timestamptz,
      expires_at timestamptz);`);
    this.addSql(`create index api_token_of_user on dws.api_token (tenant_id, user_id);`);
    this.addSql(`create table dws.login_attempt (key text not null, at timestamptz not null default now());`);
    this.addSql(`create index login_attempt_key on dws.login_attempt (key, at);`);
    this.addSql(
      `create unlogged table dws.rate_count (caller text primary key, at timestamptz not null,
        count integer not null);`,
    );
    this.addSql(`create table dws.known_address (tenant_id uuid not null references dws.tenant,
      user_id uuid not null references dws.app_user on delete cascade,
      address text not null, seen_at timestamptz not null, primary key (user_id, address));`);

    this.addSql(
      `create table dws.team (${row}, name text not null, slug text not null, description text,
        usage_profile_id uuid);`,
    );
    this.addSql(`create unique index team_slug on dws.team (tenant_id, slug);`);
    this.addSql(`create table dws.team_member (${row}, team_id uuid not null references dws.team on delete cascade,
      user_id uuid not null references dws.app_user on delete cascade,
      role text not null check (role in ('member', 'memberPlus', 'admin')),
      joined_at timestamptz not null default now(), unique (team_id, user_id));`);
    this.addSql(`create index team_member_of_user on dws.team_member (tenant_id, user_id);`);

    this.addSql(
      `create table dws.datasource (${owned}, type text not null, config jsonb not null default '{}',
        secrets text, embedded boolean not null default false);`,
    );
    this.addSql(`create table dws.saved_query (${owned}, datasource_id uuid not null references dws.datasource,
      language text not null default 'sql',
      query text not null, params jsonb not null default '[]', fields jsonb not null default '[]');`);
    this.addSql(`create index saved_query_datasource on dws.saved_query (datasource_id);`);
    this.addSql(`create table dws.dataset (${owned}, datasource_id uuid references dws.datasource,
      query_id uuid references dws.saved_query, query text,
      params jsonb not null default '[]', flow jsonb not null default '[]', fields jsonb not null default '[]',
      settings jsonb not null default '{}',
      field_security_enabled boolean not null default false, generation_id uuid,
      records bigint not null default 0, size bigint not null default 0,
      last_refresh jsonb, data_updated_at timestamptz, parent_id uuid references dws.dataset on delete cascade,
      is_draft boolean not null default false,
      is_snapshot boolean not null default false, snapshot_date timestamptz);`);
    this.addSql(`create index dataset_datasource on dws.dataset (datasource_id);`);
    this.addSql(`create index dataset_query on dws.dataset (query_id);`);
    this.addSql(`create index dataset_parent on dws.dataset (parent_id);`);
    this.addSql(`create table dws.generation (${row}, dataset_id uuid not null, fields jsonb not null,
      records bigint not null, size bigint not null,
      replaced_at timestamptz);`);
    this.addSql(`create index generation_dataset on dws.generation (dataset_id);`);
    this.addSql(`create index generation_replaced on dws.generation (replaced_at) where replaced_at is not null;`);
    for (const kind of ['datasource', 'saved_query', 'dataset']) {
      this.addSql(`create unique index ${kind}_slug on dws.${kind} (tenant_id, slug);`);
      this.addSql(`create index ${kind}_owner on dws.${kind} (tenant_id, owner_id);`);
      this.addSql(`create index ${kind}_name on dws.${kind} (tenant_id, lower(name), id);`);
    }

    this.addSql(`create table dws.operation (${row}, work_id uuid not null, user_id uuid not null, progress text,
      operation text not null, resource_kind text not null,
      resource_id uuid not null, input jsonb not null default '{}', status text not null,
      percent double precision, current bigint not null default 0,
      total bigint, unit text, message text, started_at timestamptz, finished_at timestamptz, result jsonb,
      error jsonb, sequence integer not null default 0,
      attempt integer not null default 0, heartbeat_at timestamptz, cancelled_at timestamptz, lane text,
      fingerprint text);`);
    this.addSql(
      `create unique index operation_progress on dws.operation (tenant_id, user_id, progress)
        where progress is not null and finished_at is null;`,
    );
    this.addSql(`create index operation_resource on dws.operation (tenant_id, resource_id, created_at);`);
    this.addSql(`create index operation_user on dws.operation (tenant_id, user_id, created_at);`);
    this.addSql(`create index operation_work on dws.operation (work_id) where finished_at is null;`);
    this.addSql(`create index operation_open on dws.operation (lane, work_id) where finished_at is null;`);
    this.addSql(`create index operation_finished on dws.operation (finished_at) where finished_at is not null;`);

    this.guardTenants();
    this.notifyChanges();
  }

  /**
   * Forces row-level security: `dws_app` sees only the tenant that its connection is set to, and fails without one;
   * `dws_system` sees all tenants.
   */
  private guardTenants(): void {
    const tables = [
      'app_user',
      'session',
      'api_token',
      'known_address',
      'team',
      'team_member',
      'datasource',
      'saved_query',
      'dataset',
      'generation',
      'operation',
    ];
    const tenant = `(select current_setting('app.tenant')::uuid)`;
    for (const table of tables) {
      this.addSql(`alter table dws.${table} enable row level security;
        alter table dws.${table} force row level security;
        create policy tenant on dws.${table} to dws_app using (tenant_id = ${tenant})
          with check (tenant_id = ${tenant});
        create policy system on dws.${table} to dws_system using (true) with check (true);`);
    }
    this.addSql(`alter table dws.tenant enable row level security; alter table dws.tenant force row level security;
      create policy tenant on dws.tenant for select to dws_app using (id = ${tenant});
      create policy system on dws.tenant to dws_system using (true) with check (true);`);
    this.addSql(`grant select, insert, update, delete
      on ${tables.map((table) => `dws.${table}`).join(', ')} to dws_app, dws_system;
      grant select on dws.tenant to dws_app; grant select, insert, update, delete on dws.tenant, dws.setting,
      dws.login_attempt, dws.rate_count to dws_system;`);
  }

  /** Creates triggers that send a NOTIFY when credentials, datasets or operations change. Its payload is an id. */
  private notifyChanges(): void {
    this.addSql(`create function dws.tell() returns trigger language plpgsql as $$
      declare r record; begin
        if tg_op = 'DELETE' then r := old; else r := new; end if;
        perform pg_notify(tg_argv[0], to_jsonb(r) ->> tg_argv[1]); return null;
      end $$;`);
    const credential = (table: string, column: string, when: string) =>
      this.addSql(
        `create trigger tell_credential after ${when} on dws.${table} for each row
          execute function dws.tell('dws_credential', '${column}');`,
      );
    credential('app_user', 'id', 'update of username, enabled, superuser, permissions, domain or delete');
    credential('session', 'user_id', 'delete');
    credential('api_token', 'user_id', 'delete');
    credential('team_member', 'user_id', 'insert or update or delete');
    this.addSql(
      `create trigger tell_dataset after update of generation_id or delete on dws.dataset for each row
        execute function dws.tell('dws_dataset', 'id');`,
    );
    this.addSql(
      `create trigger tell_operation after insert or update on dws.operation for each row
        execute function dws.tell('dws_operation', 'id');`,
    );
  }
}
