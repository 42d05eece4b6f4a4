/** Datasets of the tenant that fill.ts creates, for lists of them. */
import { runSql } from './service.ts';

const uuid = (text: string): string => `md5(${text})::uuid`;
const TENANT = uuid(`'bench'`);
const FOLDERS = 50;
const TAGS = 20;

/** Folders and tags, unless they exist. */
const FACETS = `
  insert into dws.folder (id, tenant_id, name)
    select ${uuid(`'folder' || n`)}, ${TENANT}, 'Folder ' || n from generate_series(1, ${FOLDERS}) n
    on conflict do nothing;
  insert into dws.tag (id, tenant_id, name)
    select ${uuid(`'tag' || n`)}, ${TENANT}, 'tag-' || n from generate_series(1, ${TAGS}) n
    on conflict do nothing;`;

/**
 * Datasets `from` to `to`, without rows: each in a folder, with two tags, owned by one of the 200 users. Every third is
 * shared with user 2, and every tenth is a favourite of users 1 and 2.
 */
const DATASETS = (from: number, to: number) => `
  insert into dws.dataset (id, tenant_id, name, slug, description, owner_id, folder_id, datasource_id, query)
    select ${uuid(`'dataset' || n`)}, ${TENANT}, 'Dataset ' || lpad(((n::bigint * 7919) % 1000003)::text, 7, '0'),
      'dataset-' || n, 'Orders of source ' || n, 'user:' || ${uuid(`'user' || (1 + n % 200)`)},
      ${uuid(`'folder' || (1 + n % ${FOLDERS})`)}, ${uuid(`'datasource'`)}, 'select ' || n
    from generate_series(${from}, ${to}) n;
  insert into dws.tag_assignment (id, tenant_id, kind, resource_id, tag_id)
    select ${uuid(`'tagged' || n || '-' || k`)}, ${TENANT}, 'dataset', ${uuid(`'dataset' || n`)},
      ${uuid(`'tag' || (1 + (n + k) % ${TAGS})`)}
    from generate_series(${from}, ${to}) n, generate_series(1, 2) k;
  insert into dws.share (id, tenant_id, kind, resource_id, principal, access_level)
    select ${uuid(`'share' || n`)}, ${TENANT}, 'dataset', ${uuid(`'dataset' || n`)}, 'user:' || ${uuid(`'user2'`)}, 1
    from generate_series(${from}, ${to}) n where n % 3 = 0;
  insert into dws.favorite (id, tenant_id, user_id, kind, resource_id)
    select ${uuid(`'favorite' || n || '-' || u`)}, ${TENANT}, ${uuid(`'user' || u`)}, 'dataset', ${uuid(`'dataset' || n`)}
    from generate_series(${from}, ${to}) n, generate_series(1, 2) u where n % 10 = 0;`;

/** Adds the datasets `from` to `to`. */
export const fillDatasets = async (url: string, from: number, to: number): Promise<unknown> =>
  runSql(url, `set role dws_system; ${FACETS} ${DATASETS(from, to)} reset role`, 'vacuum (analyze)');
