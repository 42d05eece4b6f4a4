import { readFile } from 'node:fs/promises';

interface CheckOptions {
  /** Path of the SDL of the new schema. */
  file: string;
  /** Base URL of the service. */
  url: string;
  token: string;
}

interface CheckReport {
  breaking: number;
  breakingUsed: number;
  dangerous: number;
  changes: {
    criticality: string;
    description: string;
    isUsed: boolean;
    requests: number;
    lastSeenAt: string | null;
    clients: { name: string | null; version: string | null; requests: number; lastSeenAt: string }[] | null;
  }[];
}

/**
 * Compares the schema in a file with the one of a service, by its API. Returns the lines to print, and the number of
 * breaking changes of parts that clients use. Throws an error of one line.
 */
export async function checkSchemaFile({ file, url, token }: CheckOptions) {
  const schema = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read: ${error.code}`);
  });
  const address = new URL('/api/schema/_check', url).href;
  const response = await fetch(address, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ schema }),
  }).catch((error: Error) => {
    throw new Error(`${address} does not respond: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  const body = (await response.json().catch(() => ({}))) as CheckReport & { message?: string };
  if (!response.ok) throw new Error(`${address} responded with ${response.status}: ${body.message ?? ''}`);
  return { lines: linesOf(body), breakingUsed: body.breakingUsed };
}

function linesOf({ changes, breaking, breakingUsed, dangerous }: CheckReport): string[] {
  const lines = changes.flatMap(({ criticality, description, isUsed, requests, lastSeenAt, clients }) => [
    `${criticality}\t${isUsed ? `${requests} requests, last ${lastSeenAt}` : 'unused'}\t${description}`,
    ...(clients ?? []).map(
      ({ name, version, requests: own, lastSeenAt: last }) =>
        `\t${[name ?? 'unnamed client', version].filter(Boolean).join(' ')}: ${own} requests, last ${last}`,
    ),
  ]);
  return [...lines, `${breaking} breaking changes (${breakingUsed} of used parts), ${dangerous} dangerous ones`];
}
