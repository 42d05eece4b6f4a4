import { badInput, tooLarge, upstreamFailed } from '../../core/errors.ts';
import { MAX_PDF_BYTES } from '../../core/pdf-printer.ts';
import { programBeside } from '../process/program.ts';
import { ProcessEnded, runTask } from '../process/run-task.ts';
import { SpareProcess } from '../process/spare-process.ts';
import { startProgram } from '../process/start-program.ts';
import { watchProcesses } from './browser-memory.ts';
import type { FromLetterheadProcess, ToLetterheadProcess } from './letterhead-task.ts';

const PROGRAM = programBeside(import.meta.url, 'letterhead-program');
/** The first page of a letterhead takes less than a second. */
const READ_MS = 10_000;
const HEAP_MB = 512;
const MAX_MEMORY_BYTES = 768 * 1024 ** 2;
const WATCH_MS = 50;
/** Message of V8 when it ends a process whose heap is exhausted. */
const HEAP_EXHAUSTED = /out of memory|Allocation failed/;
const SPARE = new SpareProcess(() => startProgram(PROGRAM, [`--max-old-space-size=${HEAP_MB}`]), {
  kind: 'prepare',
} satisfies ToLetterheadProcess);

/**
 * Lays the first page of a PDF under each page of a printed document, in a process of its own. Throws BAD_USER_INPUT for a
 * letterhead that cannot be read, or not in 10 s and 768 MiB, PAYLOAD_TOO_LARGE for a PDF past `MAX_PDF_BYTES`, and
 * UPSTREAM_FAILED if the process ends unexpectedly.
 */
export async function layLetterhead(printed: Buffer, letterhead: Uint8Array, signal: AbortSignal): Promise<Buffer> {
  const task: ToLetterheadProcess = { kind: 'lay', printed, letterhead };
  const reading = new AbortController();
  const timer = setTimeout(() => reading.abort(badInput('The letterhead takes too long to read')), READ_MS);
  let isRead = false;
  const child = SPARE.take();
  // A loop of the child keeps it from looking at its own memory.
  const unwatch = watchProcesses([child.pid!], MAX_MEMORY_BYTES, WATCH_MS, () => reading.abort(tooMuchMemory(isRead)));
  const isResult = ({ kind }: FromLetterheadProcess): boolean => {
    if (kind !== 'read') return true;
    clearTimeout(timer);
    isRead = true;
    return false;
  };
  try {
    const stop = AbortSignal.any([signal, reading.signal]);
    return contentOf(await runTask<FromLetterheadProcess>(child, task, stop, isResult));
  } catch (error) {
    if (!(error instanceof ProcessEnded)) throw error;
    throw HEAP_EXHAUSTED.test(error.message) || !isRead
      ? tooMuchMemory(isRead, error)
      : upstreamFailed('The letterhead process ended unexpectedly', { cause: error });
  } finally {
    clearTimeout(timer);
    unwatch();
  }
}

/** The letterhead is to blame only until it is read. */
const tooMuchMemory = (isRead: boolean, cause?: Error): Error =>
  isRead
    ? upstreamFailed('The document needs too much memory with its letterhead', { cause })
    : badInput('The letterhead needs too much memory', { cause });

function contentOf(message: FromLetterheadProcess): Buffer {
  if (message.kind === 'refused') throw badInput(message.message);
  if (message.kind !== 'result')
    throw new Error(`The letterhead process failed: ${message.kind === 'broken' ? message.message : message.kind}`);
  if (message.content.length > MAX_PDF_BYTES) throw tooLarge(`The PDF has more than ${MAX_PDF_BYTES / 1e6} MB`);
  return Buffer.from(message.content);
}
