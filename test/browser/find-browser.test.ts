import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { fontsBundle } from '../../src/adapters/browser/bundled-fonts.ts';
import { BrowserFinder } from '../../src/adapters/browser/find-browser.ts';
import { chromiumBundle } from '../../src/adapters/browser/unpack-chromium.ts';
import {
  cacheFolder,
  unpack,
  UnpackedFolder,
  unpackedIn,
  unpackTemporarily,
} from '../../src/adapters/browser/unpacked-folder.ts';

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
  test('the one at CHROMIUM_PATH, whatever else there is', async () => {
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
  test.each([
    [chromiumBundle(), ['chromium', 'lib/libnss3.so'], ['.', 'lib']],
    [fontsBundle(), ['fonts.xml', 'characters.json', 'fonts/NotoSans-Regular.ttf'], ['.', 'fonts']],
  ])(
    'concurrently by several callers yields one complete folder, which all users can read: $name',
    async (bundle, names, folders) => {
      const umask = process.umask(0o077);
      try {
        const homes = await Promise.all([unpack(bundle, folder), unpack(bundle, folder), unpack(bundle, folder)]);
        expect(new Set(homes).size).toBe(1);
        expect(readdirSync(folder)).toHaveLength(1);
        const [home] = homes;
        expect(unpackedIn(bundle, folder)).toBe(home);
        for (const name of names) expect(statSync(join(home!, name)).mode & 0o444).toBe(0o444);
        for (const name of folders) expect(statSync(join(home!, name)).mode & 0o777).toBe(0o755);
      } finally {
        process.umask(umask);
      }
    },
  );

  test('creates the folder of the cache so that all users can read it', async () => {
    const umask = process.umask(0o077);
    try {
      await unpack(fontsBundle(), join(folder, 'new'));
    } finally {
      process.umask(umask);
    }
    expect(statSync(join(folder, 'new')).mode & 0o777).toBe(0o755);
  });

  test('removes what a killed process has left, and nothing of a running one', async () => {
    const dead = ['chromium-1.0.0.999999999.a', 'fonts-0a1b2c.999999999.a'];
    const kept = ['chromium-1.0.0', `chromium-1.0.0.${process.pid}.a`, `fonts-0a1b2c.${process.pid}.a`];
    for (const name of [...dead, ...kept]) mkdirSync(join(folder, name));
    const home = await unpack(fontsBundle(), folder);
    expect(readdirSync(folder).toSorted()).toEqual([...kept, home.slice(folder.length + 1)].toSorted());
  });

  test('does not use a folder that others can write', async () => {
    const bundle = fontsBundle();
    const home = await unpack(bundle, folder);
    chmodSync(home, 0o777);
    expect(unpackedIn(bundle, folder)).toBeUndefined();
    chmodSync(home, 0o755);
    expect(unpackedIn(bundle, folder)).toBe(home);
    chmodSync(join(home, 'fonts.xml'), 0o777);
    expect(unpackedIn(bundle, folder)).toBeUndefined();
  });

  test('is announced to all that wait for it, and happens once', async () => {
    let fills = 0;
    const bundle = {
      name: `fonts-0.${process.pid}`,
      file: 'file',
      async fill(target: string) {
        fills++;
        writeFileSync(join(target, 'file'), 'content', { mode: 0o644 });
      },
    };
    const unpacked = new UnpackedFolder({ account: {}, log, load: async () => bundle });
    const announced: [caller: number, isUnpacking: boolean][] = [];
    const announceTo = (caller: number) => (isUnpacking: boolean) => void announced.push([caller, isUnpacking]);
    try {
      const homes = await Promise.all([1, 2, 3].map((n) => unpacked.find(announceTo(n))));
      expect(homes).toEqual(Array.from({ length: 3 }, () => join(cacheFolder(), bundle.name)));
      await unpacked.find(announceTo(4));
      expect(fills).toBe(1);
      expect(announced).toEqual([true, false].flatMap((isUnpacking) => [1, 2, 3].map((n) => [n, isUnpacking])));
    } finally {
      rmSync(join(cacheFolder(), bundle.name), { recursive: true, force: true });
    }
  });

  test('in the temporary folder is another one for each caller', async () => {
    const homes = await Promise.all([unpackTemporarily(fontsBundle()), unpackTemporarily(fontsBundle())]);
    expect(new Set(homes).size).toBe(2);
    for (const home of homes) {
      expect(existsSync(join(home, 'fonts.xml'))).toBe(true);
      rmSync(home, { recursive: true });
    }
  });
});
