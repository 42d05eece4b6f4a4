import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { BrowserFinder } from '../../src/adapters/browser/find-browser.ts';
import { unpackChromium, unpackedIn, unpackTemporarily } from '../../src/adapters/browser/unpack-chromium.ts';

const root = mkdtempSync(join(tmpdir(), 'dws-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(root, 'case-'))));

const log = pino({ level: 'silent' });
const find = (options: { path?: string; hasPackage?: boolean; searchPath?: string }) =>
  new BrowserFinder({ path: undefined, account: {}, log, ...options }).find();

function addProgram(...names: string[]): string {
  const path = join(folder, ...names);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
  return path;
}

describe('the browser is', () => {
  test('that of CHROMIUM_PATH, whatever else there is', async () => {
    const [path, searchPath] = [addProgram('own'), join(addProgram('bin', 'chromium'), '..')];
    expect(await find({ path, searchPath })).toMatchObject({ path });
    await expect(find({ path: join(folder, 'none'), searchPath })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('CHROMIUM_PATH'),
    });
    await expect(find({ path: folder, searchPath })).rejects.toMatchObject({ status: 503 });
  });

  test('the first of the PATH where the package has none', async () => {
    const [chrome, chromium] = [addProgram('a', 'google-chrome'), addProgram('b', 'chromium')];
    const searchPath = [join(folder, 'none'), join(chrome, '..'), join(chromium, '..')].join(':');
    expect(await find({ hasPackage: false, searchPath })).toMatchObject({ path: chrome });
  });

  test('missing on other machines, with an error that names CHROMIUM_PATH', async () => {
    for (const searchPath of ['', folder])
      await expect(find({ hasPackage: false, searchPath })).rejects.toMatchObject({
        status: 503,
        code: 'UNAVAILABLE',
        message: 'PDFs cannot be printed: this machine has no browser. CHROMIUM_PATH can name a Chromium',
      });
  });
});

describe('unpacking the browser', () => {
  test('at once by several callers yields one complete folder, which all users can read', async () => {
    const umask = process.umask(0o077);
    try {
      const homes = await Promise.all([unpackChromium(folder), unpackChromium(folder), unpackChromium(folder)]);
      expect(new Set(homes).size).toBe(1);
      expect(readdirSync(folder)).toHaveLength(1);
      const [home] = homes;
      expect(unpackedIn(folder)).toBe(home);
      for (const name of ['chromium', 'lib/libnss3.so', 'fonts/OpenSans-Regular.ttf', 'fonts.xml'])
        expect(statSync(join(home!, name)).mode & 0o444).toBe(0o444);
      for (const name of ['.', 'lib', 'fonts']) expect(statSync(join(home!, name)).mode & 0o777).toBe(0o755);
      expect(statSync(join(home!, 'chromium')).size).toBeGreaterThan(200e6);
    } finally {
      process.umask(umask);
    }
  });

  test('removes what a killed process has left, and nothing of a running one', async () => {
    const [dead, running, other] = ['chromium-1.0.0.999999999.a', `chromium-1.0.0.${process.pid}.a`, 'chromium-1.0.0'];
    for (const name of [dead, running, other]) mkdirSync(join(folder, name));
    const home = await unpackChromium(folder);
    expect(readdirSync(folder).toSorted()).toEqual([other, running, home.slice(folder.length + 1)].toSorted());
  });

  test('does not use a folder that others can write', async () => {
    const home = await unpackChromium(folder);
    chmodSync(home, 0o777);
    expect(unpackedIn(folder)).toBeUndefined();
    chmodSync(home, 0o755);
    expect(unpackedIn(folder)).toBe(home);
    chmodSync(join(home, 'chromium'), 0o777);
    expect(unpackedIn(folder)).toBeUndefined();
  });

  test('in the temporary folder is another one for each caller', async () => {
    const homes = await Promise.all([unpackTemporarily(), unpackTemporarily()]);
    expect(new Set(homes).size).toBe(2);
    for (const home of homes) {
      expect(existsSync(join(home, 'chromium'))).toBe(true);
      rmSync(home, { recursive: true });
    }
  });
});
