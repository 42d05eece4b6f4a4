import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect } from 'vitest';
import { childEnvironment } from '../../src/core/process-environment.ts';
import { programOf } from '../../tools/python.ts';
import type { Client } from '../support/client.ts';
import { HAS_PYTHON } from '../support/engines.ts';
import { test } from './example-shop.ts';

/* examples/python: the program with pandas, and the generated client. */

const CLIENT = 'generated/dws_client';

/** Runs a program of the virtual environment in examples/python. Returns the lines that it printed. */
async function run(
  program: string,
  args: string[],
  caller?: Client,
  more: Record<string, string> = {},
): Promise<string[]> {
  const token = caller?.headers['authorization']!.replace('Bearer ', '');
  const env = { ...childEnvironment(), ...(caller && { DWS_URL: caller.url, DWS_TOKEN: token }), ...more };
  const { stdout, stderr } = await promisify(execFile)(programOf(program), args, { cwd: 'examples/python', env });
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

describe.skipIf(!HAS_PYTHON)('examples in Python', () => {
  test('pandas reads rows as Parquet, JSON and CSV, with a filter and exact decimals', async ({ ann, shop }) => {
    const query = `select i.order_id, o.ordered_at, c.country, i.amount from order_items i
      join orders o on o.id = i.order_id join customers c on c.id = o.customer_id order by i.order_id`;
    const { id } = await ann.creates('/datasets', { name: 'Lines', datasourceId: shop.id, query, refresh: true });
    expect(await run('python', ['order_lines.py'], ann, { DWS_DATASET: id })).toEqual([
      "rows 6 ['order_id', 'ordered_at', 'country', 'amount']",
      'times datetime64[ms, UTC] 2026-01-05T12:00:00+00:00',
      'total France 600.75',
      'total Germany 12345678901635.0678',
      "page [Decimal('400.25'), Decimal('200.25')]",
      `csv 1 [{'order_id': '5', 'ordered_at': '2026-01-05T12:00:00.000Z', 'country': 'Germany', 'amount': '12345678901234.5678'}]`,
      'error 400 BAD_USER_INPUT: Unknown field "contry". Did you mean "country"?',
    ]);
  });

  test('both programs say that they need a token', async () => {
    const message = { stderr: 'Set DWS_TOKEN to an API token, as README.md shows\n' };
    await expect(run('python', ['order_lines.py'])).rejects.toMatchObject(message);
    await expect(run('python', ['generated_client.py'])).rejects.toMatchObject(message);
  });

  test('openapi-python-client generates a client of every operation, which works', async ({ ann, shop }) => {
    rmSync(`examples/python/${CLIENT}`, { recursive: true, force: true });
    const document = ['--path', '../../schema/openapi.json'];
    const options = ['--output-path', CLIENT, '--meta', 'none', '--config', 'client.yaml', '--fail-on-warning'];
    expect(await run('openapi-python-client', ['generate', ...document, ...options])).toEqual([`Generating ${CLIENT}`]);
    expect(await run('python', ['generated_client.py'], ann, { DWS_DATASOURCE: shop.id })).toEqual([
      'created orders-by-client 6 True',
      "listed 1 ['Orders by client']",
      'same True',
      "rows [{'order_id': 1, 'line': 1, 'amount': '100.25'}, {'order_id': 0, 'line': 1, 'amount': '0.25'}]",
      "found [{'order_id': 5, 'line': 1, 'amount': '12345678901234.5678'}]",
      "file b'PAR1'",
      'error 400 BAD_USER_INPUT Unknown field "contry"',
    ]);
  });
});
