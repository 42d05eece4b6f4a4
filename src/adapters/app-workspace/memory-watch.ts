import { readFile } from 'node:fs/promises';
import { SqlFailure, type RoleConnection } from '../../core/app-workspace.ts';

/** Pause between two looks at the memory of statements; the shorter one from half of the bound. */
const POLL_MS = 100;
const CLOSE_POLL_MS = 20;
/** For how long a process may still use memory after it was ended, or before another watch ends its own. */
const END_MS = 1000;

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
interface Backend extends Usage {
  role: string;
}

/** Memory of a process. */
interface Usage {
  pid: number;
  /** Bytes, with its parallel workers. */
  bytes: number;
}

const sumOf = (processes: readonly Usage[]): number => processes.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns which processes must end, the largest first, so that the others use at most `maxBytes`. */
export function findLargest<T extends Usage>(processes: readonly T[], maxBytes: number): T[] {
  const largest = processes.toSorted((one, other) => other.bytes - one.bytes);
  let rest = sumOf(largest);
  return largest.filter(({ bytes }) => {
    const isOver = rest > maxBytes;
    rest -= bytes;
    return isOver;
  });
}

/** The process that the id stands for, which does not change while it lives. */
type Title = { role: string } | { leader: number };

interface MemoryWatchOptions {
  /** Bytes that the processes of all apps may use together; 0: no limit. */
  maxBytes: number;
  terminate(role: string, backend: number): Promise<void>;
}

const readProc = (path: string): Promise<string | null> => readFile(`/proc/${path}`, 'latin1').catch(() => null);

/** Returns the private bytes of a process, including swapped ones; 0 when it has ended. */
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
 * ends the connections that use the most. It looks only while statements of this process run. Statements of other processes
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
  /** The processes that must end, with the time when each was last ended, in ms. */
  readonly #ending = new Map<number, number>();
  #pollMs = POLL_MS;

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
    }, this.#pollMs).unref();
  }

  async #look(): Promise<void> {
    const { maxBytes } = this.#options;
    const backends = await this.#backends();
    const total = sumOf(backends);
    this.#pollMs = total > maxBytes / 2 ? CLOSE_POLL_MS : POLL_MS;
    for (const pid of this.#ending.keys())
      if (total <= maxBytes || !backends.some((backend) => backend.pid === pid)) this.#ending.delete(pid);
    if (total <= maxBytes) return;
    const now = performance.now();
    for (const backend of backends) {
      const since = this.#ending.get(backend.pid);
      if (since === undefined || now - since < END_MS) continue;
      this.#ending.set(backend.pid, now);
      await this.#terminate(backend);
    }
    for (const { pid } of findLargest(
      backends.filter((backend) => !this.#ending.has(backend.pid)),
      maxBytes,
    )) {
      this.#ending.set(pid, now);
      this.#endOwn(pid);
    }
  }

  /** Ends a connection of this process. */
  #endOwn(pid: number): void {
    const own = [...this.#connections].find(({ backend }) => backend === pid);
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
    // Concurrently, because a busy process reads one file per turn.
    await Promise.all(
      pids.map(async (pid) => {
        const title = this.#titles.get(pid) ?? (await titleOf(pid));
        if (!title) return;
        this.#titles.set(pid, title);
        const bytes = await privateBytesOf(pid);
        if ('role' in title) backends.set(pid, { pid, role: title.role, bytes });
        else workers.push({ leader: title.leader, bytes });
      }),
    );
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
