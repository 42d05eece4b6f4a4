import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createSchema } from '../graphql/schema.ts';
import { contractOf, subgraphOf } from '../graphql/sdl.ts';
import { PACKAGE_ROOT } from '../package-root.ts';
import { generatedFiles, findOutdatedFiles, SCHEMA_FOLDER, withTemporaryDatabase, writeFiles } from './generated-files.ts';
import { compareContracts, findCompositionErrors, findUnannouncedBreaks, findElementErrors } from './schema-rules.ts';

/** `dws schema print|check|diff`: the committed contract and what holds for it (quality, "For schema-registry tooling"). */
export function schemaCommands(program: Command): void {
  const schema = program.command('schema').description('the GraphQL and REST contract');
  schema
    .command('print')
    .description('print the SDL')
    .option('--write', 'write all generated files into schema/')
    .action(async ({ write }: { write?: boolean }) => {
      const built = await createSchema();
      if (!write) return void process.stdout.write(contractOf(built));
      const names = await writeFiles(await withTemporaryDatabase((url) => generatedFiles(built, url)));
      console.log(`Wrote ${names.map((name) => `schema/${name}`).join(', ')}`);
    });
  schema
    .command('check')
    .description('compare schema/ with the code, and the contract with its rules')
    .action(async () => {
      const errors = await withTemporaryDatabase(findSchemaErrors);
      if (errors.length) throw new Error(errors.join('\n'));
      console.log('schema/ is up to date, everything is described, nothing breaks what was released.');
    });
  schema
    .command('diff <url>')
    .description('what changes for clients of the service at this address, e.g. http://127.0.0.1:4000')
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

/** Everything that is wrong with schema/ and the contract, one sentence each. `databaseUrl` is of a migrated database. */
export async function findSchemaErrors(databaseUrl: string): Promise<string[]> {
  const schema = await createSchema();
  const [released, announced] = await Promise.all([
    readOrEmpty(join(SCHEMA_FOLDER, 'released.graphql')),
    readOrEmpty(join(PACKAGE_ROOT, 'CHANGES.md')),
  ]);
  return [
    ...(await findOutdatedFiles(await generatedFiles(schema, databaseUrl))),
    ...findElementErrors(schema),
    ...(released ? findUnannouncedBreaks(released, contractOf(schema), announced) : []),
    ...((await findCompositionErrors(subgraphOf(schema))) ?? []),
  ];
}

/** The text of a file, empty when there is none: before the first release there is nothing to break. */
async function readOrEmpty(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

async function fetchContract(url: string): Promise<string> {
  const address = new URL('/graphql/schema.graphql', url).href;
  const answer = await fetch(address).catch((error: Error) => {
    throw new Error(`${address} does not answer: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  if (!answer.ok) throw new Error(`${address} answered ${answer.status} ${answer.statusText}`);
  return answer.text();
}
