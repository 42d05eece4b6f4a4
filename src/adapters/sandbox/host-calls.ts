import { HostCallError, type HostCall } from '../../core/sandbox.ts';
import {
  MAX_CONCURRENT_CALLS,
  MAX_MESSAGE_CHARACTERS,
  type CallError,
  type FromSandbox,
  type Packed,
} from './sandbox-message.ts';

type Call = Extract<FromSandbox, { kind: 'call' }>;
type Reply = (call: number, result: Packed | CallError) => void;

/** Runs the host calls of one program. */
export class HostCalls {
  readonly #functions: Readonly<Record<string, HostCall>>;
  readonly #reply: Reply;
  /** Exists from the first call on, as most programs have none. */
  #abort: AbortController | undefined;
  #hasEnded = false;
  #running = 0;

  constructor(functions: Readonly<Record<string, HostCall>>, reply: Reply) {
    this.#functions = functions;
    this.#reply = reply;
  }

  /** Runs a call, and replies with its result or the message of its error. */
  start({ call, name, argument }: Call): void {
    const work = Object.hasOwn(this.#functions, name) ? this.#functions[name] : undefined;
    if (!work || this.#running >= MAX_CONCURRENT_CALLS)
      return this.#reply(call, {
        error: work ? 'Too many functions of the service run at the same time' : 'The service has no such function',
        code: '',
      });
    this.#running += 1;
    this.#run(work, argument)
      .catch(callErrorOf)
      .then((result) => {
        this.#running -= 1;
        if (!this.#hasEnded) this.#reply(call, result);
      }, unexpected);
  }

  /** Aborts the running calls, and the calls that others have left open: the program has ended. */
  abort(): void {
    this.#hasEnded = true;
    this.#abort?.abort(new Error('The program has ended'));
  }

  async #run(work: HostCall, argument: Packed): Promise<Packed> {
    const value =
      'json' in argument ? (JSON.parse(argument.json) as unknown) : 'text' in argument ? argument.text : argument.bytes;
    this.#abort ??= new AbortController();
    return packed(await work(value, this.#abort.signal));
  }
}

function packed(value: unknown): Packed {
  if (typeof value === 'string') return { text: value };
  if (value instanceof Uint8Array) return { bytes: value };
  return { json: JSON.stringify(value) ?? 'null' };
}

const callErrorOf = (error: unknown): CallError => ({
  error: (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARACTERS),
  code: error instanceof HostCallError ? error.code : '',
});

/** The reply itself never throws. */
const unexpected = () => {};
