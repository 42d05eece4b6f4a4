import { readFile } from 'node:fs/promises';
import { SqlFailure, type RoleConnection } from '../../core/app-workspace.ts';

/** Pause between two looks at the memory of statements. */
const POLL_MS = 100;
/** Number of looks for which a process may still use memory after it was ended, or before another watch ends its own. */
const MAX_LOOKS = 10;

const OUT_OF_MEMORY = '53200';

/** Titles of the processes of Postgres. Only superusers may change whether they have one. */
const OF_APP = /^postgres: (app_[0-9a-f]{20}(?:_owner)?) /;
const PARALLEL = /^postgres: parallel worker for PID (\d+)/;

/** A connection whose process in the server the watch may end. */
export interface WatchedConnection extends RoleConnection {
  /** Ends the connection in the server, with an error for its statement. */
  end(reason: SqlFailure): void;
}

/** A process of a connection of an app in the server. */
interface Backend {
  pid: number;
  role: string;
  /** Bytes, with its parallel workers. */
  bytes: number;
}

/** What the process id stands for, which does not change while the process lives. */
type Title = { role: string } | { leader: number };

interface MemoryWatchOptions {
  /** Bytes that the processes of all apps may use together; 0: no limit. */
  maxBytes: number;
  terminate(role: string, backend: number): Promise<void>;
}

const readProc = (path: string): Promise<string | null> => readFile(`/proc/${path}`, 'latin1').catch(() => null);

/** Returns the private bytes of a process, also swapped ones; 0 when it has ended. */
async function privateBytesOf(pid: number): Promise<number> {
  const status = await readProc(`${pid}/status`);
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status ?? '')?.[1] ?? 0);
  return 1024 * (kilobytes('RssAnon') + kilobytes('VmSwap'));
}

async function titleOf(pid: number): Promise<Title | null> {
  const title = (await readProc(`${pid}/cmdline`)) ?? '';
  const role = OF_APP.exec(title)?.[1];
  if (role) return { role };
  const leader = PARALLEL.exec(title)?.[1];
  return leader ? { leader: Number(leader) } : null;
}

/**
 * Bounds the memory that statements of apps use together, on a server of the same machine with Linux: past the bound it
 * ends the connection that uses the most. It looks only while statements of this process run. Statements of other processes
 * count, too; each process ends its own, and after a second the others'.
 */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #connections = new Set<WatchedConnection>();
  readonly #titles = new Map<number, Title>();
  #running = 0;
  /** Whether a look is due or lasts. */
  #isLooking = false;
  #postmaster: number | undefined;
  /** The process that was found to use the most, and how often. */
  #largest: { pid: number; looks: number } | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  /** Adds a connection until it is removed. */
  add(connection: WatchedConnection): void {
    this.#connections.add(connection);
  }

  remove(connection: WatchedConnection): void {
    this.#connections.delete(connection);
  }

  /** Watches while a statement runs. */
  async during<T>(running: () => Promise<T>): Promise<T> {
    this.#running += 1;
    // Short statements, too, are followed by a look.
    if (!this.#isLooking && this.#options.maxBytes > 0 && process.platform === 'linux') this.#schedule();
    try {
      return await running();
    } finally {
      this.#running -= 1;
    }
  }

  #schedule(): void {
    this.#isLooking = true;
    setTimeout(() => {
      void this.#look().finally(() => {
        this.#isLooking = false;
        if (this.#running > 0) this.#schedule();
      });
    }, POLL_MS).unref();
  }

  async #look(): Promise<void> {
    const backends = await this.#backends();
    const total = backends.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= this.#options.maxBytes) {
      this.#largest = undefined;
      return;
    }
    const isEnding = this.#largest && backends.some(({ pid }) => pid === this.#largest!.pid);
    if (isEnding && (this.#largest!.looks += 1) % MAX_LOOKS !== 0) return;
    if (isEnding) await this.#terminate(backends.find(({ pid }) => pid === this.#largest!.pid)!);
    const largest = backends.reduce((most, one) => (one.bytes > most.bytes ? one : most));
    if (largest.pid === this.#largest?.pid) return;
    this.#largest = { pid: largest.pid, looks: 0 };
    const own = [...this.#connections].find(({ backend }) => backend === largest.pid);
    own?.end(
      new SqlFailure(
        OUT_OF_MEMORY,
        `The statements of apps together use more than ${this.#options.maxBytes} bytes of memory, and this one the most`,
      ),
    );
  }

  /** Ends the connection of another process. */
  async #terminate({ role, pid }: Backend): Promise<void> {
    await this.#options.terminate(role, pid).catch(() => {});
  }

  /** Returns the processes of apps in the server; none if it is on another machine. */
  async #backends(): Promise<Backend[]> {
    const pids = await this.#childrenOfServer();
    for (const pid of this.#titles.keys()) if (!pids.includes(pid)) this.#titles.delete(pid);
    const backends = new Map<number, Backend>();
    const workers: { leader: number; bytes: number }[] = [];
    for (const pid of pids) {
      const title = this.#titles.get(pid) ?? (await titleOf(pid));
      if (!title) continue;
      this.#titles.set(pid, title);
      const bytes = await privateBytesOf(pid);
      if ('role' in title) backends.set(pid, { pid, role: title.role, bytes });
      else workers.push({ leader: title.leader, bytes });
    }
    for (const { leader, bytes } of workers) {
      const backend = backends.get(leader);
      if (backend) backend.bytes += bytes;
    }
    return [...backends.values()];
  }

  async #childrenOfServer(): Promise<number[]> {
    const children = await this.#childrenOf(this.#postmaster ?? (await this.#findPostmaster()));
    // It may have started again.
    if (children === null) this.#postmaster = undefined;
    return children ?? [];
  }

  async #childrenOf(pid: number | undefined): Promise<number[] | null> {
    const children = pid === undefined ? null : await readProc(`${pid}/task/${pid}/children`);
    return children === null ? null : children.split(' ').filter(Boolean).map(Number);
  }

  /** Finds the parent of a process with the id and the title of an own connection. */
  async #findPostmaster(): Promise<number | undefined> {
    for (const { backend, role } of this.#connections) {
      const title = await titleOf(backend);
      if (!title || !('role' in title) || title.role !== role) continue;
      const parent = /^PPid:\s+(\d+)/m.exec((await readProc(`${backend}/status`)) ?? '')?.[1];
      return (this.#postmaster = parent === undefined ? undefined : Number(parent));
    }
    return undefined;
  }
}
