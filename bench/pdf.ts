/**
 * Measures the printing of PDFs against the same browser with the same flags, driven by playwright-core: `node bench/pdf.ts
 * [rows=5000] [rounds=5] [pages=20]`. Prints medians of CPU of all processes and of time, measured alternately. `pages` is
 * the number of documents of one page in a round.
 */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { chromium } from 'playwright-core';
import { browserAccount } from '../src/adapters/browser/browser-account.ts';
import { FLAGS } from '../src/adapters/browser/browser-process.ts';
import { openPdfPrinter } from '../src/adapters/browser/chromium-printer.ts';
import { BrowserFinder } from '../src/adapters/browser/find-browser.ts';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { cpuOf } from './processes.ts';
import { report } from './report.ts';

const options = readOptions({ rows: '5000', rounds: '5', pages: '20' });
const [ROWS, ROUNDS, PAGES] = [Number(options.rows), Number(options.rounds), Number(options.pages)];
const MARGIN = { top: '20mm', right: '20mm', bottom: '20mm', left: '20mm' };

const log = pino({ level: 'silent' });
const account = browserAccount();
const finder = new BrowserFinder({ path: undefined, account, log });
const { path, environment } = await finder.find();
const folder = mkdtempSync(join(tmpdir(), 'dws-bench-'));

/** Starts the browser as the printer does, as another user if this process is root. */
async function launchBare() {
  const user = account.uid === undefined ? '' : `setpriv --reuid=${account.uid} --regid=${account.gid} --clear-groups `;
  const [program, profile] = [join(folder, 'browser.sh'), join(folder, 'profile')];
  chmodSync(folder, 0o755);
  mkdirSync(profile);
  if (account.uid !== undefined) chownSync(profile, account.uid, account.gid!);
  writeFileSync(program, `#!/bin/sh\nexec nice -n 5 ${user}'${path}' "$@"\n`, { mode: 0o755 });
  return chromium.launch({
    executablePath: program,
    ignoreDefaultArgs: true,
    args: [...FLAGS, `--user-data-dir=${profile}`],
    env: environment as Record<string, string>,
  });
}

const printer = openPdfPrinter({ path: undefined, log });
const bare = await launchBare();
const printOurs = async (html: string): Promise<number> => {
  const { content } = await printer.print({
    caller: { tenantId: 'bench', userId: 'bench' },
    html,
    page: { size: 'A4', landscape: false, margin: MARGIN },
    signal: new AbortController().signal,
  });
  return content.length;
};
const printBare = async (html: string): Promise<number> => {
  const context = await bare.newContext({ javaScriptEnabled: false, offline: true });
  const page = await context.newPage();
  await page.setContent(html);
  const content = await page.pdf({
    format: 'A4',
    margin: MARGIN,
    printBackground: true,
    preferCSSPageSize: true,
    tagged: true,
    outline: true,
  });
  await context.close();
  return content.length;
};

const cells = (n: number) =>
  [n, `Customer ${(n * 7919) % 50_000}`, ((n % 9973) / 8).toFixed(2), 'EUR', '2026-03-01', `note ${n % 1000}`]
    .map((text) => `<td>${text}</td>`)
    .join('');
const table = (rows: number) =>
  `<table><thead><tr>${'<th>Head</th>'.repeat(6)}</tr></thead>` +
  `<tbody>${Array.from({ length: rows }, (_, n) => `<tr>${cells(n)}</tr>`).join('')}</tbody></table>`;
const DOCUMENTS = [
  { name: 'one page', html: `<!doctype html><h1>Report</h1>${table(20)}`, times: PAGES },
  { name: `${ROWS} rows`, html: `<!doctype html><h1>Report</h1>${table(ROWS)}`, times: 1 },
];
const PRINTERS = { ours: printOurs, bare: printBare };
type Name = keyof typeof PRINTERS;

const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;
const measured = DOCUMENTS.map((document) => ({
  ...document,
  ours: { ms: [] as number[], cpu: [] as number[], bytes: 0 },
  bare: { ms: [] as number[], cpu: [] as number[], bytes: 0 },
}));

try {
  for (const print of Object.values(PRINTERS)) await print('<p>warm');
  for (let round = 0; round < ROUNDS; round++)
    for (const one of measured)
      for (const name of round % 2 ? (['ours', 'bare'] as Name[]) : (['bare', 'ours'] as Name[])) {
        const [began, cpu] = [performance.now(), cpuOf(process.pid)];
        for (let n = 0; n < one.times; n++) one[name].bytes = await PRINTERS[name](one.html);
        one[name].ms.push((performance.now() - began) / one.times);
        one[name].cpu.push(((cpuOf(process.pid) - cpu) * 1000) / one.times);
      }
} finally {
  await bare.close();
  await printer.close();
  await finder.close();
  rmSync(folder, { recursive: true, force: true });
}

const ratio = (one: (typeof measured)[number], what: 'ms' | 'cpu') =>
  median(one.ours[what].map((value, round) => value / one.bare[what][round]!));
printTable(
  ['document', 'ms', 'bare ms', '×', 'CPU ms', 'bare CPU ms', '×', 'kB', 'bare kB'],
  measured.map((one) => [
    one.name,
    median(one.ours.ms).toFixed(0),
    median(one.bare.ms).toFixed(0),
    ratio(one, 'ms').toFixed(2),
    median(one.ours.cpu).toFixed(0),
    median(one.bare.cpu).toFixed(0),
    ratio(one, 'cpu').toFixed(2),
    (one.ours.bytes / 1000).toFixed(0),
    (one.bare.bytes / 1000).toFixed(0),
  ]),
);
report([
  { what: 'PDF of one page, CPU of all processes', goal: 'pdfPage', value: ratio(measured[0]!, 'cpu') },
  { what: `PDF of ${ROWS} rows, CPU of all processes`, goal: 'pdfRows', value: ratio(measured[1]!, 'cpu') },
]);
