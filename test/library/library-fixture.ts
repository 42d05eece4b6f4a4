import { createHash } from 'node:crypto';
import { newId } from '../../src/core/id.ts';
import type { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** A resource with its path. */
export interface TestResource {
  id: string;
  path: string;
}

/** The input of an integration with a client of Google Drive. */
export const GOOGLE = { name: 'Drive', type: 'google-drive', clientId: 'workspace' };

/** Creates an integration of the caller. */
export async function createIntegration(client: Client, more: object = {}): Promise<TestResource> {
  const { id } = await client.creates('/integrations', { ...GOOGLE, ...more });
  return { id, path: `/integrations/${id}` };
}

/** Creates a library of the caller. */
export async function createLibrary(client: Client, more: object = {}): Promise<TestResource> {
  const { id } = await client.creates('/libraries', { name: 'Papers', ...more });
  return { id, path: `/libraries/${id}` };
}

/** Stores a connection of a library that a user has authorized. */
export async function connect(
  service: Service,
  owner: Client,
  libraryId: string,
  integrationId: string,
): Promise<void> {
  const tokens = { accessToken: 'a', refreshToken: null, expiresAt: null };
  await systemQuery(
    service,
    `insert into dws.connection (id, tenant_id, library_id, integration_id, owner_id, status, sealed_tokens,
       last_authorized_at)
     select $1, tenant_id, id, $3, $4, 'connected', $5, now() from dws.library where id = $2`,
    newId(),
    libraryId,
    integrationId,
    owner.id,
    service.platform.secrets.seal(JSON.stringify(tokens)),
  );
}

/** A file as a sync stores it. */
interface TestFile {
  path: string;
  /** Null: the contents are not kept. */
  content?: string | null;
  status?: 'synced' | 'skipped' | 'failed';
  reason?: string | null;
  contentType?: string;
}

/** Stores a file of a library as a sync does. Returns its id. */
export async function addFile(
  service: Service,
  libraryId: string,
  { path, content = null, status = content === null ? 'skipped' : 'synced', reason = null, contentType }: TestFile,
): Promise<string> {
  const { platform } = service;
  const [{ tenant } = { tenant: '' }] = await systemQuery<{ tenant: string }>(
    service,
    `select tenant_id as tenant from dws.library where id = $1`,
    libraryId,
  );
  const bytes = Buffer.from(content ?? '');
  const saved = content === null ? null : await platform.files.save([bytes] as never, 0);
  if (saved)
    await systemQuery(
      service,
      `insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256)
       values ($1, $2, 'f', 'text/plain', $3, $4)`,
      saved.id,
      tenant,
      saved.size,
      saved.sha256,
    );
  const id = newId();
  await systemQuery(
    service,
    `insert into dws.library_file (id, tenant_id, library_id, file_id, name, path, content_type, size, hash, status, reason,
       url, modified_at, synced_at, stored_file_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'https://drive.example/f', now(), $12, $13)`,
    id,
    tenant,
    libraryId,
    `at-provider-${id}`,
    path.split('/').at(-1),
    path,
    contentType ?? 'text/plain',
    content === null ? null : bytes.length,
    createHash('md5').update(bytes).digest('hex'),
    status,
    reason,
    saved && new Date(),
    saved?.id ?? null,
  );
  return id;
}
