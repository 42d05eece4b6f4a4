import { AsyncResource } from 'node:async_hooks';
import { FairGate, halfOf, threeQuartersOf } from '../../core/fair-gate.ts';
import type { Sandbox, SandboxPurpose, SandboxResult, SandboxTask } from '../../core/sandbox.ts';
import { SandboxProcess, stoppingError } from './sandbox-process.ts';

interface SandboxOptions {
  /** Number of concurrent handlers, without handlers that others call. */
  handlers?: number;
  /** Number of concurrent template engines. */
  engines?: number;
  /** Longest time that a handler waits for a place, in milliseconds. */
  maxWaitMs?: number;
  /** Time after which an unused process is ended, in milliseconds. */
  idleMs?: number;
}

/**
 * Opens the sandbox. No process is started before the first program. A process runs many programs, one at a time. One
 * that was killed is replaced by a spare; processes that are not used for a minute are ended.
 */
export const openSandbox = (options: SandboxOptions = {}): Sandbox => new ProcessSandbox(options);

const MAX_WAITING = 200;
/** Maximum number of waiting private programs of one caller. There is no bound for all callers: others would see when it is reached. */
const MAX_WAITING_PRIVATE = 100;
const MAX_WAIT_MS = 30_000;
/**
 * Places of handlers that a handler calls, and of handlers that these call. A tenant occupies three of each, an owner
 * one.
 */
const CALLED_PLACES = 4;

class ProcessSandbox implements Sandbox {
  readonly #gates: Readonly<Record<SandboxPurpose, FairGate>>;
  /** Number of places of programs that are not private. */
  readonly #places: number;
  /** Number of unused processes that are kept for private programs. */
  readonly #maxIdleOfCallers: number;
  readonly #idleMs: number;
  readonly #maxWaitMs: number;
  /** The unused processes. The one that was used last is the last. */
  readonly #idle = new Map<SandboxProcess, NodeJS.Timeout>();
  /** All processes with the caller whose private programs each runs; null for all other programs. */
  readonly #all = new Map<SandboxProcess, string | null>();
  readonly #closed = new AbortController();
  // The events of a process belong to no request, as it outlives the one that starts it.
  readonly #startProcess = AsyncResource.bind(() => new SandboxProcess());

  constructor({ handlers = 8, engines = 2, maxWaitMs = MAX_WAIT_MS, idleMs = 60_000 }: SandboxOptions) {
    const gate = (taskNoun: string, places: number, maxPerTenant = threeQuartersOf(places)) =>
      FairGate.shared({ places, maxPerTenant, maxWaiting: MAX_WAITING, taskNoun });
    // Few callers must not fill the places of a tenant: the last one would see when another caller leaves.
    const maxPerTenant = threeQuartersOf(handlers);
    const maxPerCaller = halfOf(halfOf(maxPerTenant));
    const bounds = { maxPerTenant, maxPerCaller, maxWaiting: Infinity, maxWaitingPerCaller: MAX_WAITING_PRIVATE };
    const privateGate = (taskNoun: string) => FairGate.shared({ places: handlers, ...bounds, taskNoun });
    this.#gates = {
      handler: gate('handlers', handlers),
      called: gate('called handlers', CALLED_PLACES),
      nested: gate('nested handlers', CALLED_PLACES),
      'private-handler': privateGate('private handlers'),
      'private-called': privateGate('private called handlers'),
      'private-nested': privateGate('private nested handlers'),
      engine: gate('programs', engines, engines),
    };
    this.#places = handlers + engines + 2 * CALLED_PLACES;
    this.#maxIdleOfCallers = handlers;
    this.#idleMs = idleMs;
    this.#maxWaitMs = maxWaitMs;
  }

  run(task: SandboxTask): Promise<SandboxResult> {
    const signal = AbortSignal.any([task.signal, this.#closed.signal]);
    const owner = ownerOf(task);
    const work = async () => {
      const process = this.#take(owner);
      try {
        return await process.run(task, signal);
      } finally {
        await this.#giveBack(process, owner);
      }
    };
    const maxWaitMs = task.purpose === 'engine' ? undefined : this.#maxWaitMs;
    return this.#gates[task.purpose].run(task.caller, signal, work, maxWaitMs);
  }

  async close(): Promise<void> {
    this.#closed.abort(stoppingError());
    const all = [...this.#all.keys()];
    for (const process of all) {
      process.setRef(true);
      process.kill();
    }
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** Returns an unused process of an owner, or starts one. */
  #take(owner: string | null): SandboxProcess {
    for (const [process, timer] of this.#idle) {
      if (this.#all.get(process) !== owner) continue;
      clearTimeout(timer);
      this.#idle.delete(process);
      if (process.isHealthy) return process;
    }
    return this.#start(owner);
  }

  #start(owner: string | null): SandboxProcess {
    const process = this.#startProcess();
    this.#all.set(process, owner);
    void process.ended.then(() => {
      this.#all.delete(process);
      clearTimeout(this.#idle.get(process));
      this.#idle.delete(process);
    });
    return process;
  }

  /** Keeps a process for the next program. One that was killed has ended when this resolves, and a spare is started. */
  async #giveBack(process: SandboxProcess, owner: string | null): Promise<void> {
    if (process.isHealthy) return this.#keep(process, owner);
    await process.ended;
    const isOfAll = (one: SandboxProcess) => this.#all.get(one) === null;
    const isSpare = owner === null && ![...this.#idle.keys()].some(isOfAll);
    if (isSpare && [...this.#all.keys()].filter(isOfAll).length < this.#places && !this.#closed.signal.aborted)
      this.#keep(this.#start(null), null);
  }

  #keep(process: SandboxProcess, owner: string | null): void {
    process.setRef(false);
    this.#idle.set(process, setTimeout(() => process.kill(), this.#idleMs).unref());
    if (owner === null) return;
    const ofCallers = [...this.#idle.keys()].filter((one) => this.#all.get(one) !== null);
    for (const oldest of ofCallers.slice(0, -this.#maxIdleOfCallers)) {
      clearTimeout(this.#idle.get(oldest));
      this.#idle.delete(oldest);
      oldest.kill();
    }
  }
}

/**
 * Returns the caller that owns the processes of a program; null if it is not private. A process that is already running
 * starts the next program sooner, so others would notice that a private one has run.
 */
const ownerOf = ({ purpose, caller: { tenantId, userId } }: SandboxTask): string | null =>
  purpose.startsWith('private-') ? `${tenantId} ${userId}` : null;
