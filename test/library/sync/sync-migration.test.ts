import { expect, test } from 'vitest';
import { newId } from '../../../src/core/id.ts';
import { migrate, MIGRATIONS } from '../../../src/server/migrate.ts';
import { createDatabase } from '../../support/postgres.ts';
import { runSql } from '../../support/run-sql.ts';

const BEFORE = MIGRATIONS[MIGRATIONS.indexOf('m080-closed-folders') - 1]!;

test('the next sync with Dropbox is a full one after an update, and no other', async () => {
  const { url } = await createDatabase('template0');
  await migrate(url, { last: BEFORE });
  const tenant = newId();
  const insert = (type: string) => {
    const [integration, library] = [newId(), newId()];
    return `
      insert into dws.integration (id, tenant_id, name, type, auth_type, client_id, auth_uri, token_uri, api_uri, scope)
      values ('${integration}', '${tenant}', '${type}', '${type}', 'oauth2', 'c', 'a', 't', 'u', 's');
      insert into dws.library (id, tenant_id, slug, name, owner_id, settings, integration_id)
      values ('${library}', '${tenant}', '${type}', '${type}', 'user:${newId()}', '{}', '${integration}');
      insert into dws.library_sync (scope_id, tenant_id, library_id, valid_for, root_id, phase, cursor, is_full, purges,
        is_tree_stale, work_id, counts)
      values ('${library}', '${tenant}', '${library}', '${type}', 'r', 'done', 'c', false, false, false, '${newId()}', '{}');`;
  };
  await runSql(
    url,
    `set role dws_system;
    insert into dws.tenant (id, slug) values ('${tenant}', 'old');
    ${insert('dropbox')} ${insert('box')}`,
  );
  await migrate(url);
  const rows = await runSql(
    url,
    `select l.slug, s.valid_for from dws.library_sync s join dws.library l on l.id = s.library_id order by l.slug`,
  );
  expect(rows).toEqual([
    { slug: 'box', valid_for: 'box' },
    { slug: 'dropbox', valid_for: '' },
  ]);
});
