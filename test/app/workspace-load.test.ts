import { expect, test } from 'vitest';
import type { WorkspaceKey } from '../../src/core/app-workspace.ts';
import { never, outcomeOf, useWorkspaces } from './workspace-fixture.ts';

const own = useWorkspaces();
const STATE = { migrations: [], tables: [], sequences: [] };
const NOTE = { name: 'note', columns: ['id', 'text'] };
const PART = Buffer.alloc(1_000_000, 'x');

/** Yields one row of so many megabytes, in parts of one. */
async function* largeRow(id: string, megabytes: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${id}\t`);
  for (let part = 0; part < megabytes; part++) yield PART;
  yield Buffer.from('\n');
}

async function load(key: WorkspaceKey, ...tables: AsyncIterable<Uint8Array>[]): Promise<void> {
  const { insert, finish, close } = await own.workspaces.load(key, STATE, never);
  try {
    for (const rows of tables) await insert(NOTE, rows);
    await finish();
  } finally {
    await close();
  }
}

const LENGTHS = 'select id, length(text) as length from note order by id';

test('rows of many parts are inserted while they are read', async () => {
  const key = await own.create();
  await load(key, largeRow('1', 30), largeRow('2', 1));
  expect(await own.run(key, LENGTHS)).toEqual([
    { id: 1, length: 30_000_000 },
    { id: 2, length: 1_000_000 },
  ]);
});

test('rows that Postgres refuses, and rows that cannot be read, insert nothing', async () => {
  const key = await own.create();
  async function* twice() {
    yield* largeRow('1', 2);
    yield* largeRow('1', 20);
  }
  expect(await outcomeOf(load(key, twice()))).toBe('23505');
  async function* unreadable() {
    yield* largeRow('1', 2);
    throw new Error('The archive is damaged');
  }
  await expect(load(key, unreadable())).rejects.toThrow('The archive is damaged');
  expect(await own.run(key, LENGTHS)).toEqual([]);
});
