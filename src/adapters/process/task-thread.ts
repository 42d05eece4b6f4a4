import { Worker } from 'node:worker_threads';

/** The response of a thread to a task: its result, or the stack of the error. */
export type TaskResponse<R> = { result: R } | { error: string };

interface ThreadOptions {
  /** Data for the program, which it reads when it starts. */
  data?: () => unknown;
  heapMb: number;
  /** Milliseconds without a task after which the thread ends and frees its memory. */
  idleMs: number;
  /** Milliseconds after which a task ends with its thread. Default: no limit. */
  timeoutMs?: number;
  /** The failed work in errors, e.g. `The picture could not be drawn`. */
  failure: string;
}

interface Thread<R> {
  worker: Worker;
  running?: PromiseWithResolvers<R>;
  timer?: NodeJS.Timeout;
}

/**
 * A worker thread for long calculations, which serves them by `serveTasks` (serve-tasks.ts). It starts with the first
 * task and runs one at a time: callers wait for a place in a gate.
 */
export class TaskThread<T, R> {
  readonly #program: URL;
  readonly #options: ThreadOptions;
  #thread: Thread<R> | undefined;

  constructor(program: URL, options: ThreadOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** Runs a task. Throws if it fails, ends the thread or takes too long. */
  run(task: T): Promise<R> {
    const thread = (this.#thread ??= this.#start());
    clearTimeout(thread.timer);
    const running = (thread.running = Promise.withResolvers<R>());
    const { timeoutMs, failure } = this.#options;
    if (timeoutMs !== undefined)
      thread.timer = setTimeout(() => {
        this.#stop(thread);
        running.reject(new Error(`${failure} within ${timeoutMs} ms`));
      }, timeoutMs).unref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.worker.postMessage(task);
    return running.promise;
  }

  #start(): Thread<R> {
    const { data, heapMb, idleMs, failure } = this.#options;
    const worker = new Worker(this.#program, {
      workerData: data?.(),
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: {},
    });
    const thread: Thread<R> = { worker };
    // The request that waits for a result keeps the process running.
    worker.unref();
    const end = (error: Error) => {
      if (this.#thread === thread) this.#thread = undefined;
      clearTimeout(thread.timer);
      thread.running?.reject(error);
    };
    worker.on('message', (response: TaskResponse<R>) => {
      clearTimeout(thread.timer);
      if ('error' in response) thread.running?.reject(new Error(`${failure}: ${response.error}`));
      else thread.running?.resolve(response.result);
      thread.timer = setTimeout(() => this.#stop(thread), idleMs).unref();
    });
    worker.on('error', end);
    worker.on('exit', (code) => end(new Error(`${failure}: the thread ended with ${code}`)));
    return thread;
  }

  #stop(thread: Thread<R>): void {
    if (this.#thread === thread) this.#thread = undefined;
    void thread.worker.terminate();
  }
}
