import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A real file system of its own that is soon full. */
export interface SmallDisk {
  path: string;
  /** Fills the disk up to this number of free bytes. */
  fill(free?: number): void;
  /** Uses up the disk's names of files, up to this number. A full disk still has room for names of existing files. */
  fillNames(free: number): void;
  /** Undoes both. */
  empty(): void;
  /** Mounts it again without the permission to write. */
  readOnly(): void;
  unmount(): void;
}

/** Mounting requires root, or sudo without a password as on build servers. */
const run = (command: string, ...args: string[]): void => {
  const [program, ...rest] = process.getuid?.() === 0 ? [command, ...args] : ['sudo', '-n', command, ...args];
  execFileSync(program!, rest, { stdio: 'pipe' });
};

/** Enough for a cluster of Postgres, and few enough to use them up. */
const NAMES = 5000;

/** Mounts a tmpfs of `megabytes` in an empty folder. Throws where this user may not. */
export function mountDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(`/tmp/dws-disk-${process.pid}-`);
  try {
    const options = `size=${megabytes}m,nr_inodes=${NAMES},mode=0711,uid=${process.getuid!()},gid=${process.getgid!()}`;
    run('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  const filler = join(path, 'filler');
  const names = join(path, 'names');
  return {
    path,
    fill(free = 0) {
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - free)), { mode: 0o600 });
    },
    fillNames(free) {
      mkdirSync(names);
      const { ffree } = statfsSync(path);
      for (let n = free; n < ffree; n++) writeFileSync(join(names, String(n)), '');
    },
    empty() {
      for (const used of [filler, names]) rmSync(used, { recursive: true, force: true });
    },
    readOnly: () => run('mount', '-o', 'remount,ro', path),
    unmount() {
      run('umount', '-l', path);
      rmdirSync(path);
    },
  };
}

/** Returns whether this user may mount a file system. */
export function canMount(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    mountDisk(1).unmount();
    return true;
  } catch {
    return false;
  }
}
