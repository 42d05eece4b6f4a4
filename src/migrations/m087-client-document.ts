import { Migration } from '@mikro-orm/migrations';
import { ROW, ofTenants } from './tenant-table.ts';

/** Creates clients of the API with their documents, and names the client of a token. */
export class ClientDocument extends Migration {
  override up(): void {
    this.addSql(`create table dws.api_client (${ROW}, name text not null, mode text not null default 'OFF'
      check (mode in ('OFF', 'LOG', 'WARN', 'ENFORCE')), unique (tenant_id, name));`);
    this.addSql(`create table dws.client_document (${ROW},
      client_id uuid not null references dws.api_client on delete cascade, document_id text not null,
      sha256 text not null, name text, text text not null, reads_schema boolean not null,
      first_seen_at timestamptz, last_seen_at timestamptz, unique (client_id, document_id));`);
    this.addSql(`create index client_document_of_tenant on dws.client_document (tenant_id, document_id);`);
    this.addSql(`create index client_document_sha256 on dws.client_document (tenant_id, sha256);`);
    for (const table of ['api_client', 'client_document']) this.addSql(ofTenants(table));
    this.addSql(`alter table dws.api_token add column client text;`);
  }
}
