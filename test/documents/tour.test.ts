import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startAiFake } from '../../tools/ai-fake.ts';
import { startDriveFake } from '../../tools/drive-fake.ts';
import { freePort } from '../../tools/engine.ts';
import { eventually } from '../operation/fixture.ts';
import { startShell } from '../support/pasted-shell.ts';
import { startProcess } from '../support/service-process.ts';
import { codeBelow, newCheckout } from './documented-code.ts';

const TOUR = readFileSync('docs/tour.md', 'utf8');

const blocksBelow = (heading: string): string[] => codeBelow(TOUR, heading);

const ANY_ROWS = [
  /^\[$/,
  /^ {2}\{ order_id: \d+, country: '(France|Germany)', amount: [\d.]+ \},$/,
  /^ {2}\{ .* \}$/,
  /^\]$/,
];
const SUMS = ['[', /^ {2}\[ '\w+', [\d.]+ \],$/, /^ {2}\[ '\w+', [\d.]+ \],$/, /^ {2}\[ '\w+', [\d.]+ \]$/, ']'];
const ROW = [
  '  {',
  /order_id: \d+/,
  /line: \d+/,
  /ordered_at: '\d{4}-/,
  /status: 'returned'/,
  /country: '/,
  /product: '/,
  /quantity: \d+/,
  /amount: [\d.]+$/,
];
const HITS = ["  'QUERY Order lines',", "  'DATASET Order lines'"];

/**
 * Output of each part of the walk when it is pasted for the first and the second time into one installation. The rows
 * of the demo depend on the day.
 */
const WALK: Record<string, (isFirst: boolean) => (string | RegExp)[]> = {
  'For operators': (isFirst) => [
    ...[
      'node',
      'config',
      'data folder',
      'disk',
      'postgres',
      'migrations',
      'roles',
      'queue',
      'key ring',
      'index',
      'apps',
      'credits',
      'connections',
    ].map((name) => new RegExp(`^ok    ${name.padEnd(12)}\\S`)),
    ...(isFirst ? ['Created superuser "ann" of tenant "default".'] : []),
  ],
  'For everyone': () => ['ann', 'ann'],
  'For data administrators': () => [
    '{',
    '  ok: true,',
    /^ {2}latency: \d+,$/,
    /^ {2}version: 'PostgreSQL 18/,
    '  warnings: [',
    `    'The role "postgres" is a superuser; use one that may only read',`,
    `    'The connection is not encrypted'`,
    '  ],',
    '  message: null',
    '}',
    '[',
    ...['categories: 2', 'customers: 11', 'order_items: 7', 'orders: 12'].map((table) => `  '${table} columns',`),
    `  'products: 10 columns'`,
    ']',
  ],
  'For analysts': () => [
    '[',
    ...ROW,
    '  },',
    ...ROW,
    '  },',
    ...ROW,
    '  }',
    ']',
    `[ 'country: string', 'population: integer' ]`,
  ],
  'For teams': (isFirst) => [
    "{ name: 'admin', type: 'USER' }",
    'Sales',
    ...(isFirst ? [`[ 'QUERY Order lines', 'DATASET Order lines' ]`] : ['[', HITS[0]!, `${HITS[1]},`, ...HITS, ']']),
    '[',
    "  'ann tagged Order lines with Sales',",
    "  'ann shared Order lines with admin (Edit)',",
    "  'ann created Order lines'",
    ']',
  ],
  'For GraphQL and REST': () => [...ANY_ROWS, ...ANY_ROWS, ...SUMS],
  'For owners': (isFirst) => [
    ...(isFirst ? ['bob'] : []),
    "[ 'product', 'amount' ]",
    '[',
    "  'The dataset is shared with bob, limited to the rows of a filter and some of the fields'",
    ']',
  ],
  'For readers': () => [...SUMS, /^2\d{5}$/, /^\d{4,6}$/, 'lines', /^\d+$/],
  'For authors': () => ['%PDF-', '1', '1', '501', '1', 'true', 'order,total', 'null'],
  'For app authors': (isFirst) => [
    '[',
    "  'lib/order.ts',",
    "  'migrations/001-orders.sql',",
    "  'migrations/002-example.sql',",
    "  'server/orders/[status].ts',",
    "  'webhooks/orders.ts'",
    ']',
    '••••',
    isFirst ? '{"id":"A-1001","duplicate":false} 201' : '{"id":"A-1001","duplicate":true} 200',
    '{"error":"The signature is wrong"} 401',
    '{"id":"A-1001","duplicate":true} 200',
    "[ 'A-1001: 37.5' ]",
    '2',
    '[',
    "  { id: 'A-1001', sku: 'MUG-RED', quantity: 3 },",
    "  { id: 'EXAMPLE-1', sku: 'MUG-BLUE', quantity: 2 }",
    ']',
    isFirst ? "[ 'post /orders: 3 calls, 1 errors' ]" : "[ 'post /orders: 6 calls, 2 errors' ]",
  ],
  'For librarians': (isFirst) => [
    'google-drive',
    '302',
    'ann@example.com',
    ...(isFirst
      ? ['2', "[ 'offers/spring.docx: synced', 'offers/summer.pdf: synced' ]"]
      : ['3', '[', ...['archive/summer.pdf', 'offers/spring.docx'].map((path) => `  '${path}: synced',`)]),
    ...(isFirst ? [] : ["  'offers/summer.pdf: synced'", ']']),
    '{ result: { addedFiles: 0, updatedFiles: 2, deletedFiles: 0 } }',
    'Twenty per cent off',
  ],
  'For toolkit builders': () => [
    '{',
    "  type: 'mcp-stdio',",
    '  config: {',
    "    command: 'npx',",
    "    args: [ '-y', '@modelcontextprotocol/server-everything' ]",
    '  }',
    '}',
    'Found 13 tools of mcp-servers/everything 2.0.0',
    ...Array.from({ length: 13 }, () => /^added\t[a-z-]+$/),
    'true',
    '[',
    '  {',
    "    name: 'orders_since',",
    '    approved: true,',
    "    savedQuery: { name: 'Orders since' }",
    '  }',
    ']',
    '13',
    '{ added: [], removed: [], changed: [] }',
    'false',
    'true',
  ],
  'For assistant builders': () => [
    'Fake',
    'icon',
    'image/x-icon',
    '4',
    'image/png',
    "[ 'orders_since', 'There are many orders from France.' ]",
    'There are many orders from France.',
  ],
  'For billing': () => [
    '54',
    '[',
    "  'app: 4 x 4 = 16',",
    "  'job: 28 x 0.5 = 14',",
    "  'user: 3 x 4 = 12',",
    "  'assistant: 2 x 4 = 8',",
    "  'user: 1 x 4 = 4'",
    ']',
    "[ 'admin', 'Lena of the demo', 'ann' ]",
    /^\{ cap: 1000, remaining: 9\d\d(\.\d+)? \}$/,
  ],
  'For schema registries': () => [/^etag: "[\w-]{22}"$/i, '304', /^\d{6}$/, 'No changes.'],
};

/** Headings whose blocks are tested otherwise: the live events of a refresh. */
const SUBSCRIBERS = 'For subscribers';

/** Reports of a second paste on the terminal about things that exist already. */
const REPORTED: Record<string, string> = {
  'For operators': 'Tenant "default" already has a user "ann"',
  'For teams': 'The tag "Sales" already exists',
  'For owners': 'The username "bob" is already in use',
};

describe('the tour', { timeout: 600_000 }, () => {
  const headings = [...TOUR.matchAll(/^## (For [\w ]+)/gm)].map(([, heading]) => heading!);

  test('is tested in every part', () => {
    const tested = [...Object.keys(WALK), SUBSCRIBERS];
    expect(headings.filter((heading) => !tested.some((name) => heading.startsWith(name)))).toEqual([]);
    expect(tested.filter((name) => blocksBelow(name).length === 0)).toEqual([]);
  });

  test('works when it is pasted into an interactive bash, twice in a row, bracketed and not', async () => {
    const { path, remove } = newCheckout();
    const variables = { OUTBOUND_ALLOW: '127.0.0.1', SEED_DEMO: 'true', PORT: String(await freePort()) };
    const service = await startProcess({ DATA_DIR: join(path, '.data'), ...variables });
    const [drive, ai] = [await startDriveFake('google-drive'), await startAiFake()];
    await eventually(async () => /The demo is ready|demo failed/.test(service.printed()));
    const fakes = { DRIVE: drive.origin, AI: new URL(ai.provider.baseUrl).origin, MCP_PORT: String(await freePort()) };
    const shell = startShell(path, { URL: service.url, ...fakes });
    for (const isFirst of [true, false])
      for (const heading of headings) {
        const name = [...Object.keys(WALK), SUBSCRIBERS].find((start) => heading.startsWith(start))!;
        const lines: string[] = [];
        let terminal = '';
        for (const block of blocksBelow(name)) {
          const pasted = await shell.paste(block, isFirst);
          lines.push(...pasted.lines);
          terminal += pasted.terminal;
        }
        expect(terminal, name).not.toMatch(/^bash: |^node:|Error: /m);
        if (!isFirst && REPORTED[name]) expect(terminal).toContain(REPORTED[name]);
        if (name === SUBSCRIBERS) {
          expect(lines).toContainEqual(expect.stringMatching(/^graphql-ws SUCCEEDED 2\d{5} rows$/));
          expect(lines).toContainEqual(
            expect.stringMatching(/^data: \{.*"progress":"first load".*"status":"succeeded"/),
          );
        } else
          expect(lines, name).toEqual(
            WALK[name]!(isFirst).map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
          );
      }
    await shell.close();
    await Promise.all([drive.close(), ai.close()]);
    expect(await service.end('SIGTERM')).toBe(0);
    remove();
  });
});
