import { timedOut, tooLarge, upstreamFailed } from '../../core/errors.ts';
import { SandboxFailure, type HostCall, type Sandbox, type SandboxTask } from '../../core/sandbox.ts';
import { formatSize } from '../../core/size.ts';
import {
  TemplateError,
  type RenderSettings,
  type RenderTask,
  type TemplateSource,
} from '../../core/template-engine.ts';
import { readOutput, type EngineOutput } from './engine-output.ts';

/** Bounds of one run of an engine. */
export interface EngineLimits {
  timeoutMs: number;
  memoryBytes: number;
  outputBytes: number;
  /** Maximum size of the HTML of a PDF. */
  pdfOutputBytes: number;
}

export const ENGINE_LIMITS: EngineLimits = {
  timeoutMs: 30_000,
  memoryBytes: 256 * 1024 ** 2,
  outputBytes: 50_000_000,
  pdfOutputBytes: 5_000_000,
};

/** Schema of the options of a handler that has none. */
export const NO_OPTIONS = { type: 'object', properties: {}, additionalProperties: false };
/** Settings of a check, which formats nothing. */
export const NEUTRAL_SETTINGS: RenderSettings = { locale: 'en', timezone: 'UTC', strict: false };

/** Every file of a template can be read once, with some to spare. */
const MAX_HOST_CALLS = 1000;
const MAX_HOST_BYTES = 150_000_000;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

/** Error that engines throw for a text or buffer that is too large for the memory. */
const MEMORY_ERROR = /^RangeError: /;

type EngineRun = Pick<SandboxTask, 'modules' | 'entry' | 'input' | 'host'> & {
  /** File that mistakes without a place belong to. */
  filename: string;
  isPdf: boolean;
};

/**
 * Runs an engine in the sandbox. Throws `TemplateError`, TIMEOUT, UPSTREAM_FAILED past the memory, 413 past the size of
 * the output.
 */
export async function runEngine(
  sandbox: Sandbox,
  limits: EngineLimits,
  { caller, signal }: Pick<RenderTask, 'caller' | 'signal'>,
  { filename, isPdf, ...program }: EngineRun,
): Promise<EngineOutput> {
  const outputBytes = isPdf ? limits.pdfOutputBytes : limits.outputBytes;
  try {
    const { output } = await sandbox.run({
      ...program,
      caller,
      signal,
      purpose: 'engine',
      textAs: 'bytes',
      limits: {
        timeoutMs: limits.timeoutMs,
        memoryBytes: limits.memoryBytes,
        outputBytes,
        logBytes: 0,
        hostCalls: MAX_HOST_CALLS,
        hostBytes: MAX_HOST_BYTES,
      },
    });
    return readOutput(output, filename);
  } catch (error) {
    if (!(error instanceof SandboxFailure)) throw error;
    throw engineError(error, limits, isPdf ? 'HTML of the PDF' : 'output', outputBytes, filename);
  }
}

function engineError(
  failure: SandboxFailure,
  { timeoutMs, memoryBytes }: EngineLimits,
  what: string,
  outputBytes: number,
  path: string,
): Error {
  const cause = { cause: failure };
  const isMemory = failure.reason === 'exception' && MEMORY_ERROR.test(failure.message);
  switch (isMemory ? 'memory' : failure.reason) {
    case 'timeout':
      return timedOut(`The template takes longer than ${timeoutMs / 1000} seconds`, cause);
    case 'memory':
      return upstreamFailed(`The template needs more than ${Math.round(memoryBytes / 1024 ** 2)} MB of memory`, cause);
    case 'output':
      return tooLarge(`The ${what} has more than ${formatSize(outputBytes)}`, cause);
    case 'host-calls':
      return new TemplateError([
        { path, message: 'The template reads its files too often or too many of them', line: null, column: null },
      ]);
    case 'exception':
      return new TemplateError([{ path, message: failure.message, line: null, column: null }]);
    case 'crash':
      return upstreamFailed('The process of the template ended unexpectedly', cause);
  }
}

/** Returns the host call that reads files by their name. */
export const byteReader =
  (files: ReadonlyMap<string, TemplateSource>): HostCall =>
  async (name) => {
    const file = files.get(String(name));
    if (!file) throw new Error(`There is no file ${String(name)}`);
    return file.content;
  };

/** Returns the host call that reads files as text by their name. */
export const textReader =
  (files: ReadonlyMap<string, TemplateSource>): HostCall =>
  async (name) => {
    const file = files.get(String(name));
    if (!file) throw new Error(`There is no file ${String(name)}`);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(file.content);
    } catch {
      throw new Error(`The file ${String(name)} is not encoded as UTF-8`);
    }
  };

/** Returns the host call that reads an ASSET file as data URL. */
export const assetReader =
  (asset: RenderTask['asset']): HostCall =>
  async (name, signal) => {
    const file = await asset(String(name), signal);
    if (!file) throw new Error(`There is no asset ${String(name)}`);
    const contentType = MEDIA_TYPE.test(file.contentType) ? file.contentType : 'application/octet-stream';
    return `data:${contentType};base64,${Buffer.from(file.content).toString('base64')}`;
  };
