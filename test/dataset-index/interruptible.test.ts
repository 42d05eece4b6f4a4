import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { interruptible } from '../../src/adapters/dataset-index/duckdb/interruptible.ts';

test('an abort that comes too late to interrupt the statement has its result dropped', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const client = new AbortController();
  const results: unknown[] = [];
  const work = async () => {
    results.push((await connection.runAndReadAll('SELECT 1')).getRows());
    client.abort(new Error('the client left'));
    return results;
  };
  await expect(interruptible(connection, client.signal, work)).rejects.toThrow('the client left');
  expect(results).toEqual([[[1]]]);
  expect((await connection.runAndReadAll('SELECT 2')).getRows()).toEqual([[2]]);
});
