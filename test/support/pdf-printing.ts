import { readdirSync, readFileSync } from 'node:fs';
import { pino } from 'pino';
import { openPdfPrinter } from '../../src/adapters/browser/chromium-printer.ts';
import type { PageSettings, PdfDocument, PdfPrinter } from '../../src/core/pdf-printer.ts';

const LOG = pino({ level: process.env.LOG_LEVEL ?? 'silent' });

/** Opens a printer, which the caller closes. */
export const openPrinter = (
  options: { path?: string; printMs?: number; maxBytes?: number; log?: typeof LOG } = {},
): PdfPrinter => openPdfPrinter({ path: undefined, log: LOG, ...options });

/** A4 with margins of 20 mm. */
export const PAGE: PageSettings = {
  size: 'A4',
  landscape: false,
  margin: { top: '20mm', right: '20mm', bottom: '20mm', left: '20mm' },
};

/** A document of a user, on A4. */
export const documentOf = (html: string, more: Partial<PdfDocument> = {}): PdfDocument => ({
  caller: { tenantId: 'tenant', userId: 'user' },
  html,
  page: PAGE,
  signal: new AbortController().signal,
  ...more,
});

/** A table of this many rows and six columns, with a head. */
export const tableOf = (rows: number): string => {
  const cells = (n: number) => Array.from({ length: 6 }, (_, column) => `<td>cell ${n} ${column}</td>`).join('');
  const body = Array.from({ length: rows }, (_, n) => `<tr>${cells(n)}</tr>`).join('');
  return `<table><thead><tr>${'<th>head</th>'.repeat(6)}</tr></thead><tbody>${body}</tbody></table>`;
};

interface Running {
  pid: number;
  parent: number;
  group: number;
  command: string;
}

/** Returns the living processes of this machine. */
function processes(): Running[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), group: Number(group), command }];
      } catch {
        // It has ended.
        return [];
      }
    });
}

/** Returns the ids of the browsers that a process has started. */
export const browsersOf = (parent: number = process.pid): number[] =>
  processes()
    .filter((one) => one.parent === parent && one.command.includes('--remote-debugging-pipe'))
    .map(({ pid }) => pid);

/** Returns the processes of a browser, including processes that it has left behind. */
export const processesOf = (browser: number): Pick<Running, 'pid' | 'command'>[] =>
  processes().filter(({ group }) => group === browser);

/** Returns the folder of a running browser, which nothing else uses. */
export const folderOf = (browser: number): string =>
  / --user-data-dir=(\S+)/.exec(readFileSync(`/proc/${browser}/cmdline`, 'utf8').replaceAll('\0', ' '))![1]!;
