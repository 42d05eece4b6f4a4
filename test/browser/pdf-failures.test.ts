import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { conflict } from '../../src/core/errors.ts';
import type { PdfPrinter } from '../../src/core/pdf-printer.ts';
import { eventually } from '../operation/fixture.ts';
import { HAS_PRINTER } from '../support/engines.ts';
import { browsersOf, documentOf, folderOf, openPrinter, processesOf, tableOf } from '../support/pdf-printing.ts';
import { textOfPdf } from '../support/pdf-text.ts';

/** A document that takes longer than these tests. */
const LONG = tableOf(60_000);

describe.skipIf(!HAS_PRINTER)('a print', () => {
  let printer: PdfPrinter;
  afterEach(() => printer.close());

  /** Begins a print that does not end by itself. */
  function begin(signal = new AbortController().signal, html = LONG): Promise<unknown> {
    const print = printer.print(documentOf(html, { signal }));
    print.catch(() => {});
    return print;
  }

  /** Waits until a browser has a process of this type. */
  const awaitProcess = (type: string): Promise<{ browser: number; pid: number }> =>
    eventually(async () => {
      const [browser] = browsersOf();
      const found = browser && processesOf(browser).find(({ command }) => command.includes(type));
      return found ? { browser, pid: found.pid } : false;
    });

  /** Expects that nothing of a browser is left, and that the next print is right. */
  async function expectRecovery(browser: number): Promise<void> {
    await expect.poll(() => processesOf(browser)).toEqual([]);
    const { content } = await printer.print(documentOf('<p>next'));
    expect(await textOfPdf(content)).toEqual(['next\n']);
    await printer.close();
    expect(browsersOf()).toEqual([]);
  }

  test.each([
    ['browser', '--remote-debugging-pipe'],
    ['renderer of the page', '--type=renderer'],
  ])('fails when the %s is killed, and the next one is right', async (_, type) => {
    printer = openPrinter();
    const print = begin();
    const { browser, pid } = await awaitProcess(type);
    const folder = folderOf(browser);
    process.kill(pid, 'SIGKILL');
    await expect(print).rejects.toMatchObject({ code: 'UPSTREAM_FAILED', status: 500 });
    expect(existsSync(folder)).toBe(false);
    await expectRecovery(browser);
  });

  test('ends when its signal aborts, with the reason of the signal, and frees its place', async () => {
    printer = openPrinter();
    const abort = new AbortController();
    const reason = conflict('no longer needed');
    const print = begin(abort.signal);
    const { browser } = await awaitProcess('--type=renderer');
    abort.abort(reason);
    await expect(print).rejects.toBe(reason);
    await expectRecovery(browser);
  });

  test('that hangs is a timeout, and the next one is right', async () => {
    printer = openPrinter({ printMs: 8000 });
    const print = begin(undefined, '<div>'.repeat(100_000));
    const { browser } = await awaitProcess('--type=renderer');
    await expect(print).rejects.toMatchObject({
      code: 'TIMEOUT',
      status: 504,
      message: 'The PDF takes longer than 8 seconds to print',
    });
    await expectRecovery(browser);
  });

  test('that takes too much memory ends alone', async () => {
    printer = openPrinter();
    const caller = { tenantId: 'other', userId: 'user' };
    const large = begin();
    const { browser } = await awaitProcess('--type=renderer');
    expect((await printer.print(documentOf('<p>beside', { caller }))).pages).toBe(1);
    await expect(large).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: 'The PDF needs more than 1.5 GB of memory to print',
    });
    await expectRecovery(browser);
  });

  test('is refused when 200 wait, and ends when the printer closes', async () => {
    printer = openPrinter();
    const prints = Array.from({ length: 203 }, () => printer.print(documentOf(LONG)));
    const results = Promise.allSettled(prints);
    const refused = (await Promise.race(prints).catch((error: unknown) => error)) as Error;
    expect(refused).toMatchObject({ status: 503, message: expect.stringMatching(/^Too many PDFs are waiting/) });
    await printer.close();
    for (const result of await results) expect(result).toMatchObject({ status: 'rejected', reason: { status: 503 } });
    expect(browsersOf()).toEqual([]);
  });

  test('leaves no browser and no folder when its process is killed', async () => {
    printer = openPrinter();
    const child = fork(new URL('printing-process.ts', import.meta.url), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    await once(child, 'message');
    const browser = await eventually(async () => browsersOf(child.pid)[0]);
    await expect.poll(() => processesOf(browser).some(({ command }) => command.includes('--type=renderer'))).toBe(true);
    const folder = folderOf(browser);
    expect(existsSync(folder)).toBe(true);
    child.kill('SIGKILL');
    await expect.poll(() => processesOf(browser)).toEqual([]);
    await expect.poll(() => existsSync(folder)).toBe(false);
  });
});

describe('the browser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dws-test-'));
  chmodSync(folder, 0o755);
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Writes a program, which another user can run. */
  function writeProgram(name: string, script: string): string {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    chmodSync(path, 0o755);
    return path;
  }

  test('that CHROMIUM_PATH names is used before the one of the package, and must be a program', async () => {
    const missing = openPrinter({ path: join(folder, 'missing') });
    await expect(missing.print(documentOf('x'))).rejects.toMatchObject({
      status: 503,
      message: 'PDFs cannot be printed: CHROMIUM_PATH does not name a program',
    });
    const broken = openPrinter({ path: writeProgram('browser', 'echo broken >&2; exit 3') });
    await expect(broken.print(documentOf('x'))).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: 'The browser could not be started',
      cause: { message: expect.stringContaining('broken') },
    });
    await Promise.all([missing.close(), broken.close()]);
  });

  test.skipIf(!HAS_PRINTER)(
    'runs without its sandbox where the machine permits none, which is logged once',
    async () => {
      const { program } = await import('./package-browser.ts');
      const { path, environment } = await program();
      const variables = ['LD_LIBRARY_PATH', 'FONTCONFIG_FILE'].map(
        (name) => `export ${name}='${environment[name] ?? ''}'`,
      );
      const refusal = `case "$*" in *--no-sandbox*) ;; *) echo 'No usable sandbox!' >&2; exit 1;; esac`;
      const script = [refusal, ...variables, `exec '${path}' "$@"`].join('\n');
      const lines: string[] = [];
      const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
      const printer = openPrinter({ path: writeProgram('browser', script), log: log as never });
      for (const tenantId of ['one', 'two'])
        expect((await printer.print(documentOf('x', { caller: { tenantId, userId: 'user' } }))).pages).toBe(1);
      await printer.close();
      expect(lines.filter((line) => line.includes('without the sandbox'))).toHaveLength(1);
    },
  );

  test.skipIf(!HAS_PRINTER || process.getuid?.() !== 0)('never runs as root', async () => {
    const printer = openPrinter();
    await printer.print(documentOf('x'));
    for (const { pid } of processesOf(browsersOf()[0]!))
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m);
    await printer.close();
  });
});
