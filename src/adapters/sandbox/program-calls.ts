import type * as IsolatedVm from 'isolated-vm';
import type { SandboxLimits } from '../../core/sandbox.ts';
import { tooManyBytes, tooManyCalls } from './guest/call-limits.ts';
import { jsonViolation } from './json-bounds.ts';
import type { CallError, FromSandbox, Packed } from './sandbox-message.ts';

/** The host calls of one program, on the side of the sandbox process. */
export class ProgramCalls {
  readonly #ivm: typeof IsolatedVm;
  readonly #limits: SandboxLimits;
  readonly #send: (message: FromSandbox) => void;
  readonly #exceed: (message: string) => void;
  readonly #replies = new Map<number, (result: Packed | CallError) => void>();
  #count = 0;
  #bytes = 0;

  constructor(
    ivm: typeof IsolatedVm,
    limits: SandboxLimits,
    send: (message: FromSandbox) => void,
    exceed: (message: string) => void,
  ) {
    this.#ivm = ivm;
    this.#limits = limits;
    this.#send = send;
    this.#exceed = exceed;
  }

  /** Whether calls have no result yet. */
  get arePending(): boolean {
    return this.#replies.size > 0;
  }

  /** Passes the result of a call on. */
  reply(call: number, result: Packed | CallError): void {
    this.#replies.get(call)?.(result);
    this.#replies.delete(call);
  }

  /** Runs a host call. Returns its result in the form that the prelude reads; never throws. */
  async run(name: string, kind: string, value: unknown, isSync: boolean): Promise<unknown> {
    const argument = packedOf(kind, value);
    const call = ++this.#count;
    const { hostCalls, hostBytes } = this.#limits;
    if (call > hostCalls || !argument) return this.#never(tooManyCalls(hostCalls));
    if (this.#isTooMuch(argument)) return this.#never(tooManyBytes(hostBytes));
    const violation = 'json' in argument ? jsonViolation(argument.json) : undefined;
    if (violation) return `E\nThe argument of ${name} ${violation}`;
    const { promise, resolve } = Promise.withResolvers<Packed | CallError>();
    this.#replies.set(call, resolve);
    this.#send({ kind: 'call', call, name, argument });
    const result = await promise;
    if ('error' in result) return `E${result.code}\n${result.error}`;
    if (this.#isTooMuch(result)) return this.#never(tooManyBytes(hostBytes));
    if ('text' in result) return `T${result.text}`;
    if ('json' in result) return `J${result.json}`;
    return isSync ? new this.#ivm.ExternalCopy(result.bytes) : result.bytes;
  }

  /** Ends the program. Returns a value that never arrives, so that it does not continue. */
  #never(message: string): Promise<never> {
    this.#exceed(message);
    return new Promise(() => {});
  }

  /** Counts the bytes of an argument or result. Returns whether all of them are too many. */
  #isTooMuch(packed: Packed): boolean {
    const value = 'bytes' in packed ? packed.bytes : 'text' in packed ? packed.text : packed.json;
    this.#bytes += typeof value === 'string' ? Buffer.byteLength(value) : value.byteLength;
    return this.#bytes > this.#limits.hostBytes;
  }
}

function packedOf(kind: string, value: unknown): Packed | undefined {
  if (kind === 'bytes' && value instanceof Uint8Array) return { bytes: value };
  if (typeof value !== 'string') return undefined;
  return kind === 'text' ? { text: value } : { json: value };
}
