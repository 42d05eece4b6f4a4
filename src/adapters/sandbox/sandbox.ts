import { AsyncResource } from 'node:async_hooks';
import { FairGate, threeQuartersOf } from '../../core/fair-gate.ts';
import type { Sandbox, SandboxPurpose, SandboxResult, SandboxTask } from '../../core/sandbox.ts';
import { SandboxProcess, stoppingError } from './sandbox-process.ts';

interface SandboxOptions {
  /** Number of handlers that run at once, without those that handlers call. */
  handlers?: number;
  /** Number of template engines that run at once. */
  engines?: number;
  /** Longest time that a handler waits for a place, in milliseconds. */
  maxWaitMs?: number;
  /** Time after which an unused process is ended, in milliseconds. */
  idleMs?: number;
}

/**
 * Opens the sandbox. No process is started before the first program. A process runs many programs, one at a time. One that was
 * killed is replaced by a spare; those that are not used for a minute are ended.
 */
export const openSandbox = (options: SandboxOptions = {}): Sandbox => new ProcessSandbox(options);

const MAX_WAITING = 200;
const MAX_WAIT_MS = 30_000;
/** Places of handlers that a handler calls, and of those that these call. A tenant occupies three of each, an owner one. */
const CALLED_PLACES = 4;

class ProcessSandbox implements Sandbox {
  readonly #gates: Readonly<Record<SandboxPurpose, FairGate>>;
  readonly #places: number;
  readonly #idleMs: number;
  readonly #maxWaitMs: number;
  readonly #idle = new Map<SandboxProcess, NodeJS.Timeout>();
  readonly #all = new Set<SandboxProcess>();
  readonly #closed = new AbortController();
  // The events of a process belong to no request, as it outlives the one that starts it.
  readonly #startProcess = AsyncResource.bind(() => new SandboxProcess());

  constructor({ handlers = 8, engines = 2, maxWaitMs = MAX_WAIT_MS, idleMs = 60_000 }: SandboxOptions) {
    const gate = (taskNoun: string, places: number, maxPerTenant = threeQuartersOf(places)) =>
      FairGate.shared({ places, maxPerTenant, maxWaiting: MAX_WAITING, taskNoun });
    this.#gates = {
      handler: gate('handlers', handlers),
      called: gate('called handlers', CALLED_PLACES),
      nested: gate('nested handlers', CALLED_PLACES),
      engine: gate('programs', engines, engines),
    };
    this.#places = handlers + engines + 2 * CALLED_PLACES;
    this.#idleMs = idleMs;
    this.#maxWaitMs = maxWaitMs;
  }

  run(task: SandboxTask): Promise<SandboxResult> {
    const signal = AbortSignal.any([task.signal, this.#closed.signal]);
    const work = async () => {
      const process = this.#take();
      try {
        return await process.run(task, signal);
      } finally {
        await this.#giveBack(process);
      }
    };
    const maxWaitMs = task.purpose === 'engine' ? undefined : this.#maxWaitMs;
    return this.#gates[task.purpose].run(task.caller, signal, work, maxWaitMs);
  }

  async close(): Promise<void> {
    this.#closed.abort(stoppingError());
    const all = [...this.#all];
    for (const process of all) {
      process.setRef(true);
      process.kill();
    }
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** Returns an unused process, or starts one. */
  #take(): SandboxProcess {
    for (const [process, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(process);
      if (process.isHealthy) return process;
    }
    return this.#start();
  }

  #start(): SandboxProcess {
    const process = this.#startProcess();
    this.#all.add(process);
    void process.ended.then(() => {
      this.#all.delete(process);
      clearTimeout(this.#idle.get(process));
      this.#idle.delete(process);
    });
    return process;
  }

  /** Keeps a process for the next program. One that was killed has ended when this resolves, and a spare is started. */
  async #giveBack(process: SandboxProcess): Promise<void> {
    if (process.isHealthy) return this.#keep(process);
    await process.ended;
    if (this.#idle.size === 0 && this.#all.size < this.#places && !this.#closed.signal.aborted)
      this.#keep(this.#start());
  }

  #keep(process: SandboxProcess): void {
    process.setRef(false);
    this.#idle.set(process, setTimeout(() => process.kill(), this.#idleMs).unref());
  }
}
