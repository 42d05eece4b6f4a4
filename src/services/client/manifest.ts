import { hash } from 'node:crypto';
import { BREAK, Kind, visit, type DocumentNode } from 'graphql';
import type { Context } from '../../core/context.ts';
import { badInput, type ApiError } from '../../core/errors.ts';
import { parseLimited } from '../../core/limits/limits.ts';
import { endTurn } from '../../core/long-turns.ts';

/** Maximum number of documents of a client. */
export const MAX_DOCUMENTS = 10_000;
/** Maximum size of a document in UTF-8. */
export const MAX_DOCUMENT_BYTES = 100_000;
const MAX_ID_CHARACTERS = 255;

/** A document of a manifest, and where it is there. */
interface ManifestEntry {
  id: string;
  text: string;
  index: number;
  path: (string | number)[];
}

/** A document of a manifest that is valid. */
export interface CheckedDocument {
  documentId: string;
  text: string;
  sha256: string;
  name: string | null;
  readsSchema: boolean;
}

/** The digests that an id of their form must be, by the number of hexadecimal digits. */
const DIGESTS = new Map([
  [64, 'sha256'],
  [32, 'md5'],
]);

const refuse = ({ index, path, id }: ManifestEntry, problem: string): ApiError => {
  const message = `Document ${index} (${JSON.stringify(id)}) ${problem}`;
  return badInput(message, { validation: [{ path, message, code: 'invalid' }] });
};

/**
 * Returns the documents of a manifest: of Apollo, of Relay (MD5 to text) or of the client preset of GraphQL code generator
 * (hash to text). Each is parsed and validated. Throws BAD_USER_INPUT with the index of the first that does not fit. See
 * docs/contract/clients.md#manifests.
 */
export async function checkManifest(ctx: Context, manifest: Record<string, unknown>): Promise<CheckedDocument[]> {
  const entries = entriesOf(manifest);
  if (entries.length > MAX_DOCUMENTS) throw tooManyDocuments();
  const ids = new Map<string, string>();
  const checked: CheckedDocument[] = [];
  for (const entry of entries) {
    const start = performance.now();
    checkEntry(entry);
    if ((ids.get(entry.id) ?? entry.text) !== entry.text) throw refuse(entry, 'has the id of another text');
    const isRepeated = ids.has(entry.id);
    ids.set(entry.id, entry.text);
    if (!isRepeated) checked.push(await validateEntry(ctx, entry));
    await endTurn(performance.now() - start);
  }
  return checked;
}

export const tooManyDocuments = (): ApiError => badInput(`A client may have at most ${MAX_DOCUMENTS} documents`);

function entriesOf(manifest: Record<string, unknown>): ManifestEntry[] {
  const { format, version, operations } = manifest;
  if (!Array.isArray(operations))
    return Object.entries(manifest).map(([id, text], index) => ({ id, text: text as string, index, path: [id] }));
  if (format !== 'apollo-persisted-query-manifest' || version !== 1)
    throw badInput(
      'A manifest with operations must have the format apollo-persisted-query-manifest and the version 1',
      {
        validation: [{ path: ['format'], message: 'format is unknown', code: 'invalid' }],
      },
    );
  return operations.map((operation: unknown, index) => {
    const { id, body } = (operation ?? {}) as { id?: unknown; body?: unknown };
    if (typeof id === 'string') return { id, text: body as string, index, path: ['operations', index, 'body'] };
    throw refuse({ id: '', text: '', index, path: ['operations', index, 'id'] }, 'has no id');
  });
}

/** Checks the form of an entry, and that an id that looks like a digest is the digest of the text. */
function checkEntry(entry: ManifestEntry): void {
  const { id, text } = entry;
  if (typeof text !== 'string') throw refuse(entry, 'is not a text');
  if (id === '' || id.length > MAX_ID_CHARACTERS)
    throw refuse(entry, `must have an id of 1 to ${MAX_ID_CHARACTERS} characters`);
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) throw refuse(entry, `has more than ${MAX_DOCUMENT_BYTES} bytes`);
  const digits = /^(?:sha256:)?([\da-f]+)$/i.exec(id)?.[1]?.toLowerCase();
  const algorithm = digits && DIGESTS.get(digits.length);
  if (algorithm && hash(algorithm, text) !== digits) throw refuse(entry, `is not the text with this ${algorithm}`);
}

async function validateEntry(ctx: Context, entry: ManifestEntry): Promise<CheckedDocument> {
  const { id, text } = entry;
  const document = parseEntry(entry);
  const [error] = await ctx.platform.documents!.validate(document, ctx);
  if (error) throw refuse(entry, `does not validate: ${error.message}`);
  const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw refuse(entry, 'has no operation');
  return {
    documentId: id,
    text,
    sha256: hash('sha256', text),
    name: operation.name?.value ?? null,
    readsSchema: readsSchema(document),
  };
}

function parseEntry(entry: ManifestEntry): DocumentNode {
  try {
    return parseLimited(entry.text);
  } catch (error) {
    throw refuse(entry, `does not parse: ${(error as Error).message}`);
  }
}

/** Returns whether a document selects `__schema` or `__type`, in fragments too. */
export function readsSchema(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Field({ name }) {
      found = name.value === '__schema' || name.value === '__type';
      return found ? BREAK : undefined;
    },
  });
  return found;
}
