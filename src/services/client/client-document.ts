import { ApiClient } from '../../../entities/api-client.ts';
import { recordAuditTarget } from '../../core/audit.ts';
import type { Context } from '../../core/context.ts';
import type { DocumentsMode } from '../../core/documents-mode.ts';
import { badInput, conflict, notFound } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { CLIENT_NAME_RULE, violation } from '../../core/input-rules.ts';
import { lockKey } from '../../core/locks.ts';
import { newRow } from '../../core/new-row.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { checkManifest, MAX_DOCUMENTS, tooManyDocuments } from './manifest.ts';

/** Maximum number of clients of a tenant. */
const MAX_CLIENTS = 1000;
const CLIENT_NOUN = 'client';

/** Result of the upload of a manifest. */
export interface UploadedDocuments {
  /** Number of documents that are new. */
  added: number;
  /** Number of documents that were stored before. */
  unchanged: number;
}

/**
 * Stores the documents of a manifest for a client, all or none. Creates the client if there is none. Throws CONFLICT for a
 * known id with another text.
 */
export async function upload(
  ctx: Context,
  name: string,
  manifest: Record<string, unknown>,
): Promise<UploadedDocuments> {
  checkName(name);
  const documents = await checkManifest(ctx, manifest);
  const { tenantId } = ctx.viewer;
  return change(ctx, async (tx) => {
    const client = await findOrCreate(ctx, tx, name);
    tx.flush();
    const stored = await tx.query<{ document_id: string; sha256: string }>({
      text: `select document_id, sha256 from dws.client_document where tenant_id = $1 and client_id = $2`,
      values: [tenantId, client.id],
    });
    const known = new Map(stored.map(({ document_id, sha256 }) => [document_id, sha256]));
    for (const { documentId, sha256 } of documents)
      if ((known.get(documentId) ?? sha256) !== sha256)
        throw conflict(`The client has another text with the id ${JSON.stringify(documentId)}`);
    const added = documents.filter(({ documentId }) => !known.has(documentId));
    if (stored.length + added.length > MAX_DOCUMENTS) throw tooManyDocuments();
    tx.execute({
      text: `
        insert into dws.client_document (id, tenant_id, client_id, document_id, sha256, name, text, reads_schema)
        select (d->>'id')::uuid, $1, $2, d->>'documentId', d->>'sha256', d->>'name', d->>'text', (d->>'readsSchema')::boolean
        from jsonb_array_elements($3::jsonb) d`,
      values: [tenantId, client.id, JSON.stringify(added.map((document) => ({ ...document, id: newId() })))],
    });
    return { added: added.length, unchanged: documents.length - added.length };
  });
}

/** Sets the mode of a client. Creates the client if there is none. Returns its id. */
export function setMode(ctx: Context, name: string, mode: DocumentsMode): Promise<string> {
  checkName(name);
  return change(ctx, async (tx) => {
    const client = await findOrCreate(ctx, tx, name);
    checkVersion(ctx, CLIENT_NOUN, client.version);
    client.mode = mode;
    return client.id;
  });
}

/** Deletes a client with its documents. Its tokens stay, with the mode `OFF`. */
export async function remove(ctx: Context, name: string): Promise<void> {
  await change(ctx, async (tx) => {
    const client = await load(ctx, tx, name);
    checkVersion(ctx, CLIENT_NOUN, client.version);
    tx.remove(client);
  });
}

/** Deletes a document of a client, by its UUID or its id in the manifest. */
export async function removeDocument(ctx: Context, name: string, id: string): Promise<void> {
  await change(ctx, async (tx) => {
    const client = await load(ctx, tx, name);
    const deleted = await tx.query({
      text: `
        delete from dws.client_document
        where tenant_id = $1 and client_id = $2 and (document_id = $3 or id::text = lower($3))
        returning id`,
      values: [ctx.viewer.tenantId, client.id, id],
    });
    if (deleted.length === 0) throw notFound({ what: 'document', id });
  });
}

/** Runs a change in a transaction and lets all processes read the clients of the tenant again. */
async function change<T>(ctx: Context, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const { tenantId } = ctx.viewer;
  const result = await ctx.transaction(async (tx) => {
    const changed = await work(tx);
    tx.execute({ text: `select pg_notify('${CHANNELS.client}', $1)`, values: [tenantId] });
    return changed;
  });
  ctx.platform.notifications.notifyLocally(CHANNELS.client, tenantId);
  return result;
}

async function findOrCreate(ctx: Context, tx: Transaction, name: string): Promise<ApiClient> {
  const { tenantId } = ctx.viewer;
  lockKey(tx, `api-client:${tenantId}`);
  const found = await tx.findOne(ApiClient, { name }, { lock: 'update' });
  if (found) return recordTarget(ctx, found);
  if ((await tx.count(ApiClient, {})) >= MAX_CLIENTS)
    throw conflict(`A tenant may have at most ${MAX_CLIENTS} clients`);
  return recordTarget(ctx, tx.insert(newRow(ApiClient, { tenantId, name })));
}

async function load(ctx: Context, tx: Transaction, name: string): Promise<ApiClient> {
  const client = await tx.findOne(ApiClient, { name }, { lock: 'update' });
  if (!client) throw notFound({ what: CLIENT_NOUN, id: name });
  return recordTarget(ctx, client);
}

function recordTarget(ctx: Context, client: ApiClient): ApiClient {
  recordAuditTarget(ctx.request, 'apiClient', null, client.id);
  return client;
}

function checkName(name: string): void {
  const problem = violation(CLIENT_NAME_RULE, name);
  if (problem) throw badInput(`The name of a client ${problem}`);
}
