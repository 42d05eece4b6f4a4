import { Migration } from '@mikro-orm/migrations';

const UUID = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/** Lists the sources of templates: the dataset or query that the config of a processor names. It need not exist. */
export class TemplateProcessorSources extends Migration {
  override up(): void {
    for (const [column, key] of [
      ['dataset_id', 'datasetId'],
      ['query_id', 'queryId'],
    ] as const) {
      this.addSql(`alter table dws.template_processor add column ${column} uuid generated always as (
        case when config->>'${key}' ~ '${UUID}' then (config->>'${key}')::uuid end) stored;`);
      this.addSql(`create index template_processor_${column} on dws.template_processor (${column})
        where ${column} is not null;`);
    }
  }
}
