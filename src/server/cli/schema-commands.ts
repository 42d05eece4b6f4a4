import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readVariable } from '../../core/process-environment.ts';
import { createSchema } from '../graphql/schema.ts';
import { contractOf, subgraphOf } from '../graphql/sdl.ts';
import { PACKAGE_ROOT } from '../package-root.ts';
import {
  generateFiles,
  findOutdatedFiles,
  SCHEMA_FOLDER,
  withTemporaryDatabase,
  writeFiles,
} from './generated-files.ts';
import { checkSchemaFile } from './schema-check.ts';
import { compareContracts, findCompositionErrors, findUnannouncedBreaks, findElementErrors } from './schema-rules.ts';

/** Adds `dws schema print|check|diff`, which work on the committed contracts in schema/. */
export function addSchemaCommands(program: Command): void {
  const schema = program.command('schema').description('print, check and compare the GraphQL and REST contracts');
  schema
    .command('print')
    .description('print the GraphQL schema')
    .option('--write', 'write all generated files into schema/')
    .action(async ({ write }: { write?: boolean }) => {
      const built = await createSchema();
      if (!write) return void process.stdout.write(contractOf(built));
      const names = await writeFiles(await withTemporaryDatabase((url) => generateFiles(built, url)));
      console.log(`Wrote ${names.map((name) => `schema/${name}`).join(', ')}`);
    });
  schema
    .command('check [file]')
    .description(
      'check that schema/ is up to date and follows the rules; with a file: compare the schema in it with the one of a ' +
        'service, and fail if a part breaks that clients use; the token of the API is taken from DWS_TOKEN',
    )
    .option('--url <base>', 'URL of the service, e.g. http://127.0.0.1:4000; required with a file')
    .action(async (file: string | undefined, { url }: { url?: string }) => {
      if (file !== undefined) return checkFile(file, url);
      const errors = await withTemporaryDatabase(findSchemaErrors);
      if (errors.length) throw new Error(errors.join('\n'));
      console.log('schema/ is up to date, everything is described, and no released contract is broken.');
    });
  schema
    .command('diff <url>')
    .description('list the changes for clients of the service at this URL, e.g. http://127.0.0.1:4000')
    .action(async (url: string) => {
      const { breaking, dangerous, other } = compareContracts(
        await fetchContract(url),
        contractOf(await createSchema()),
      );
      for (const [kind, changes] of Object.entries({ Breaking: breaking, Dangerous: dangerous, Other: other }))
        for (const change of changes) console.log(`${kind}: ${change}`);
      if (!breaking.length && !dangerous.length && !other.length) console.log('No changes.');
    });
}

/** Prints the changes of the schema in a file. Throws if a breaking one concerns a part that clients use. */
async function checkFile(file: string, url: string | undefined): Promise<void> {
  const token = readVariable('DWS_TOKEN');
  if (!url) throw new Error('Name the service by --url');
  if (!token) throw new Error('Set DWS_TOKEN to a token of the API with the scope read');
  const { lines, breakingUsed } = await checkSchemaFile({ file, url, token });
  for (const line of lines) console.log(line);
  if (breakingUsed > 0) throw new Error(`Breaking changes of parts that clients use: ${breakingUsed}`);
}

/** Returns all errors of schema/ and the contract. `databaseUrl` is of a migrated database. */
export async function findSchemaErrors(databaseUrl: string): Promise<string[]> {
  const schema = await createSchema();
  const [released, announced] = await Promise.all([
    readOrEmpty(join(SCHEMA_FOLDER, 'released.graphql')),
    readOrEmpty(join(PACKAGE_ROOT, 'CHANGES.md')),
  ]);
  return [
    ...(await findOutdatedFiles(await generateFiles(schema, databaseUrl))),
    ...findElementErrors(schema),
    ...(released ? findUnannouncedBreaks(released, contractOf(schema), announced) : []),
    ...((await findCompositionErrors(subgraphOf(schema))) ?? []),
  ];
}

/** Returns the text of a file, empty where it does not exist: an image has no CHANGES.md. */
async function readOrEmpty(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

async function fetchContract(url: string): Promise<string> {
  const address = new URL('/graphql/schema.graphql', url).href;
  const response = await fetch(address).catch((error: Error) => {
    throw new Error(`${address} does not respond: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  if (!response.ok) throw new Error(`${address} responded with ${response.status} ${response.statusText}`);
  return response.text();
}
