import { Migration } from '@mikro-orm/migrations';
import { forgetResourceTrigger, OWNED_COLUMNS } from './owned-table.ts';
import { ROW, ofTenants } from './tenant-table.ts';

/** The resource that a row belongs to. Ids are unique across kinds. */
const about = `kind text not null, resource_id uuid not null`;

const OWNED = ['datasource', 'saved_query', 'dataset', 'report', 'app'];

/**
 * Creates the tables of all resources: shares, tags, favourites, folders, activity and audit events. Also creates reports,
 * apps, datasource links and suites.
 */
export class Resources extends Migration {
  override up(): void {
    this.addSql(
      `create table dws.report (${OWNED_COLUMNS}, definition jsonb not null default '{"blocks": []}',
        settings jsonb not null default '{}');`,
    );
    this.addSql(
      `create table dws.app (${OWNED_COLUMNS}, env text, env_names jsonb not null default '[]',
        status text not null default 'draft', deployed_at timestamptz, schema_name text);`,
    );
    for (const kind of ['report', 'app']) {
      this.addSql(`create unique index ${kind}_slug on dws.${kind} (tenant_id, slug);`);
      this.addSql(`create index ${kind}_owner on dws.${kind} (tenant_id, owner_id);`);
      this.addSql(`create index ${kind}_name on dws.${kind} (tenant_id, lower(name), id);`);
    }

    this.addSql(
      `create table dws.folder (${ROW}, name text not null,
        parent_id uuid references dws.folder on delete cascade,
        creator_id uuid references dws.app_user on delete set null);`,
    );
    this.addSql(`create index folder_name on dws.folder (tenant_id, lower(name), id);`);
    this.addSql(`create index folder_parent on dws.folder (parent_id);`);
    for (const table of OWNED) {
      this.addSql(`alter table dws.${table} add foreign key (folder_id) references dws.folder on delete set null;`);
      this.addSql(`create index ${table}_folder on dws.${table} (folder_id) where folder_id is not null;`);
    }

    this.addSql(
      `create table dws.share (${ROW}, ${about}, principal text not null,
        access_level integer not null check (access_level between 0 and 3), unique (resource_id, principal));`,
    );
    this.addSql(`create index share_principal on dws.share (tenant_id, principal, resource_id);`);
    this.addSql(
      `create table dws.tag (${ROW}, name text not null, color text, description text,
        creator_id uuid references dws.app_user on delete set null);`,
    );
    this.addSql(`create unique index tag_name on dws.tag (tenant_id, lower(name));`);
    this.addSql(
      `create table dws.tag_assignment (${ROW}, ${about},
        tag_id uuid not null references dws.tag on delete cascade, unique (resource_id, tag_id));`,
    );
    this.addSql(`create index tag_assignment_tag on dws.tag_assignment (tag_id);`);
    this.addSql(
      `create table dws.favorite (${ROW}, ${about},
        user_id uuid not null references dws.app_user on delete cascade, unique (user_id, resource_id));`,
    );
    this.addSql(`create index favorite_resource on dws.favorite (resource_id);`);
    this.createDeleteTriggers();

    this.addSql(`create table dws.activity (${ROW}, ${about}, name text, owner_id text,
      user_id uuid references dws.app_user on delete set null, type text not null,
      message text not null, data jsonb not null default '{}');`);
    this.addSql(`create index activity_resource on dws.activity (tenant_id, resource_id, created_at desc, id desc);`);
    this.addSql(`create index activity_owner on dws.activity (tenant_id, owner_id, created_at desc, id desc);`);
    this.addSql(`create index activity_created on dws.activity (created_at);`);
    this.addSql(`create table dws.audit_event (${ROW}, user_id uuid, username text not null,
      action text not null, kind text, resource_id text, outcome text not null, tongue text not null, address text,
      token_id uuid, session_id uuid, request_id text not null);`);
    this.addSql(`create index audit_event_created on dws.audit_event (tenant_id, created_at desc, id desc);`);
    this.addSql(
      `create index audit_event_resource on dws.audit_event (tenant_id, resource_id, created_at desc, id desc)
        where resource_id is not null;`,
    );
    this.addSql(`create index audit_event_age on dws.audit_event using brin (created_at);`);

    this.addSql(`create table dws.datasource_link (${ROW},
      source_datasource_id uuid not null references dws.datasource on delete cascade,
      target_datasource_id uuid not null references dws.datasource on delete cascade,
      type text not null check (type in ('foreign-key', 'lookup')), mappings jsonb not null default '{}');`);
    this.addSql(`create index datasource_link_source on dws.datasource_link (source_datasource_id);`);
    this.addSql(`create index datasource_link_target on dws.datasource_link (target_datasource_id);`);
    this.addSql(
      `create table dws.suite (${ROW}, name text not null, description text,
        creator_id uuid references dws.app_user on delete set null);`,
    );
    this.addSql(`create index suite_name on dws.suite (tenant_id, lower(name), id);`);
    this.addSql(`create table dws.suite_member (${ROW},
      suite_id uuid not null references dws.suite on delete cascade,
      datasource_id uuid not null references dws.datasource on delete cascade,
      position integer not null, unique (suite_id, datasource_id));`);
    this.addSql(`create index suite_member_datasource on dws.suite_member (datasource_id);`);

    for (const table of [
      'report',
      'app',
      'folder',
      'share',
      'tag',
      'tag_assignment',
      'favorite',
      'activity',
      'audit_event',
      'datasource_link',
      'suite',
      'suite_member',
    ])
      this.addSql(ofTenants(table));
    // Activity and audit events never change. Only the janitor, as `dws_system`, deletes old ones.
    for (const table of ['activity', 'audit_event'])
      this.addSql(`revoke update, delete on dws.${table} from dws_app; revoke update on dws.${table} from dws_system;`);
  }

  /** Deletes the shares, tags and favourites of a deleted resource, and the shares of a deleted user or team. */
  private createDeleteTriggers(): void {
    this.addSql(`create function dws.forget_resource() returns trigger language plpgsql as $$
      begin
        delete from dws.share where tenant_id = old.tenant_id and resource_id = old.id;
        delete from dws.tag_assignment where tenant_id = old.tenant_id and resource_id = old.id;
        delete from dws.favorite where tenant_id = old.tenant_id and resource_id = old.id;
        return null;
      end $$;`);
    for (const table of OWNED) this.addSql(forgetResourceTrigger(table));
    this.addSql(
      `create function dws.forget_principal() returns trigger language plpgsql as $$
      begin delete from dws.share where tenant_id = old.tenant_id and principal = tg_argv[0] || old.id; ` +
        `return null; end $$;`,
    );
    for (const [table, prefix] of [
      ['app_user', 'user:'],
      ['team', 'team:'],
    ])
      this.addSql(
        `create trigger forget_principal after delete on dws.${table} for each row
          execute function dws.forget_principal('${prefix}');`,
      );
  }
}
