import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTenantDatabase } from '../../src/adapters/database/tenant-database.ts';
import { openFileStore } from '../../src/adapters/files/file-store.ts';
import { createSecretBox } from '../../src/adapters/secrets/secret-box.ts';
import { readConfig } from '../../src/core/config.ts';
import { yieldOnce } from '../../src/core/files.ts';
import { newId } from '../../src/core/id.ts';
import { writeBackup } from '../../src/server/backup/backup.ts';
import { openBackup, restoreBackup } from '../../src/server/backup/restore.ts';
import { queueMails } from '../../src/services/resource/mail.ts';
import { insertStoredFile } from '../../src/services/resource/stored-file.ts';
import { APP_SECRET, withInstallation } from '../support/backup-fixture.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { newFolder } from '../support/service-process.ts';

const BYTES = Buffer.from('a,b\n1,2\n');

test('a backup contains the files of mails that wait, and after a restore they are deleted with the mail', async () => {
  await withInstallation(async ({ database, config, away }) => {
    const [tenant] = await runSql(database.url, 'select id from dws.tenant');
    const tenantId = tenant!['id'] as string;
    const saved = await openFileStore(join(config.DATA_DIR, 'files')).save(yieldOnce(BYTES), 0);
    const file = { ...saved, filename: 'figures.csv', contentType: 'text/csv' };
    const tenants = openTenantDatabase(database.url, 1);
    const secrets = createSecretBox('a secret of a test of mail');
    await tenants.transaction(tenantId, async (tx) => {
      insertStoredFile(tx, tenantId, file);
      const mail = { userId: null, to: 'a@example.com', attachments: [file] };
      const content = { tenantId, source: 'test', senderId: newId(), subject: 'A', text: 'B' };
      await queueMails({ secrets }, tx, content, [mail]);
    });
    await tenants.close();
    const archive = join(away, 'mail.backup');
    await writeBackup(database.url, config, archive);

    const [target, folder] = [await createDatabase('template0'), newFolder()];
    const restored = readConfig({ DATA_DIR: folder.path, APP_SECRET });
    await restoreBackup(target.url, restored, await openBackup(archive));
    for (const table of ['mail', 'mail_attachment', 'stored_file']) {
      const rowsOf = (url: string) => runSql(url, `select to_json(t)::text as row from dws.${table} t`);
      const rows = await rowsOf(database.url);
      expect(rows.length, table).toBe(1);
      expect(await rowsOf(target.url), table).toEqual(rows);
    }
    expect(await openFileStore(join(restored.DATA_DIR, 'files')).read(file.id)).toEqual(BYTES);
    await runSql(target.url, `update dws.mail set status = 'sent'`);
    expect(await runSql(target.url, 'select id from dws.stored_file')).toEqual([]);
    folder.remove();
    await target.drop();
  });
});
