import { Migration } from '@mikro-orm/migrations';
import { ofTenants } from './tenant-table.ts';

/**
 * Creates the usage of schema coordinates: requests of a day by client, version and operation of a document, and the
 * coordinates of each operation.
 */
export class FieldUsage extends Migration {
  override up(): void {
    this.addSql(`create table dws.field_usage (tenant_id uuid not null references dws.tenant, day date not null,
      client text not null, version text not null, document text not null, operation text not null,
      requests bigint not null, first_at timestamptz not null, last_at timestamptz not null,
      primary key (tenant_id, document, operation, day, client, version));`);
    this.addSql(`create index field_usage_day on dws.field_usage (tenant_id, day);`);
    this.addSql(`create table dws.field_usage_document (tenant_id uuid not null references dws.tenant,
      document text not null, operation text not null, coordinates text[] not null,
      primary key (tenant_id, document, operation));`);
    this.addSql(`create index field_usage_document_coordinates on dws.field_usage_document using gin (coordinates);`);
    for (const table of ['field_usage', 'field_usage_document']) this.addSql(ofTenants(table));
  }
}
