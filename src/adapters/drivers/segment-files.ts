import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { written } from '../../core/disk-full.ts';
import type { Segment } from '../../core/row-source.ts';

/** Number of bytes after which a segment ends with the current record. */
const SEGMENT_BYTES = 8 * 1024 * 1024;
const BUFFER_BYTES = 1024 * 1024;
/** Number of complete segments that may wait for their reader. */
const MAX_UNREAD = 2;

/** Passes segments from one writer to one reader. The writer waits while two are unread. */
export class SegmentQueue implements AsyncIterable<Segment> {
  readonly #unread: Segment[] = [];
  #ended = false;
  #failure: unknown;
  #changed = Promise.withResolvers<void>();

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Waits until another segment may be begun. Throws the signal's reason when it aborts during the wait. */
  async room(signal: AbortSignal): Promise<void> {
    const wake = () => this.#notify();
    signal.addEventListener('abort', wake);
    try {
      signal.throwIfAborted();
      while (this.#unread.length >= MAX_UNREAD) {
        await this.#changed.promise;
        signal.throwIfAborted();
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  put(segment: Segment): void {
    this.#unread.push(segment);
    this.#notify();
  }

  /** Ends the queue. The reader still receives waiting segments. */
  end(): void {
    this.#ended = true;
    this.#notify();
  }

  /** Fails the queue. The reader receives this error instead of waiting segments. */
  fail(error: unknown): void {
    this.#failure = error;
    this.end();
  }

  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Segment, void> {
    for (;;) {
      this.throwIfFailed();
      const segment = this.#unread.shift();
      if (segment) {
        this.#notify();
        yield segment;
      } else if (this.#ended) return;
      else await this.#changed.promise;
    }
  }

  /** Deletes unread segments. */
  async discard(): Promise<void> {
    for (const { path } of this.#unread.splice(0)) await rm(path, { force: true });
  }
}

/** Data to be written: bytes, and whether the segment ends after them. */
interface Pending {
  buffer: Buffer;
  length: number;
  end: { rows: number; bytes: number; longestRow: number } | null;
}

/**
 * Writes records into segment files of slightly over 8 MB in `dir` and puts complete ones into the queue. `append` and
 * `endRecord` only copy; `flush` writes, and waits for the disk and for the reader. Call it often.
 */
export class SegmentWriter {
  readonly #dir: string;
  readonly #queue: SegmentQueue;
  readonly #signal: AbortSignal;
  #pending: Pending[] = [];
  #spare: Buffer[] = [];
  #buffer: Buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #used = 0;
  #rows = 0;
  #bytes = 0;
  #longestRow = 0;
  #file: { handle: FileHandle; path: string } | null = null;
  #count = 0;
  /** Number of records so far. */
  rowsWritten = 0;

  constructor(dir: string, queue: SegmentQueue, signal: AbortSignal) {
    this.#dir = dir;
    this.#queue = queue;
    this.#signal = signal;
  }

  /** Appends `source[start, end)` to the current record by copying it. */
  append(source: Buffer, start: number, end: number): void {
    for (let from = start; from < end;) {
      if (this.#used === this.#buffer.length) this.#turn(null);
      const copied = source.copy(this.#buffer, this.#used, from, end);
      this.#used += copied;
      this.#bytes += copied;
      from += copied;
    }
  }

  /**
   * Reports the number of rows twice a second, if it has changed. The rows are counted one by one, because few and slow
   * rows do not fill a segment for a long time. Returns a function that stops the reports.
   */
  endRecord(bytes: number): void {
    this.#rows++;
    this.rowsWritten++;
    if (bytes > this.#longestRow) this.#longestRow = bytes;
    if (this.#bytes >= SEGMENT_BYTES) this.#endSegment();
  }

  #endSegment(): void {
    this.#turn({ rows: this.#rows, bytes: this.#bytes, longestRow: this.#longestRow });
    this.#rows = this.#bytes = this.#longestRow = 0;
  }

  #turn(end: Pending['end']): void {
    this.#pending.push({ buffer: this.#buffer, length: this.#used, end });
    this.#buffer = this.#spare.pop() ?? Buffer.allocUnsafe(BUFFER_BYTES);
    this.#used = 0;
  }

  /** Writes what was appended. Throws UNAVAILABLE when the disk refuses it, so that the source is not blamed. */
  async flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    for (const { buffer, length, end } of this.#pending.splice(0)) {
      const { handle, path } = (this.#file ??= await this.#begin());
      await written(handle.appendFile(buffer.subarray(0, length)));
      this.#spare.push(buffer);
      if (!end) continue;
      await handle.close();
      this.#file = null;
      this.#queue.put({ path, ...end, temporary: true });
    }
  }

  async #begin(): Promise<{ handle: FileHandle; path: string }> {
    await this.#queue.room(this.#signal);
    const path = join(this.#dir, `segment-${String(++this.#count).padStart(6, '0')}.csv`);
    return { handle: await written(open(path, 'wx', 0o600)), path };
  }

  /** Writes the rest. A result without rows has no segment. */
  async finish(): Promise<void> {
    if (this.#rows > 0) this.#endSegment();
    await this.flush();
  }

  /** Deletes an unfinished segment. */
  async discard(): Promise<void> {
    if (!this.#file) return;
    await this.#file.handle.close();
    await rm(this.#file.path, { force: true });
    this.#file = null;
  }
}
