import { ConcurrencyGate } from '../../core/concurrency-gate.ts';
import type { Context } from '../../core/context.ts';
import { badInput, cancelled, tooLarge, upstreamFailed } from '../../core/errors.ts';
import { cleanFilename, type IncomingFile } from '../../core/files.ts';
import type { Driver } from '../../core/row-source.ts';
import { loadBytesUsed } from '../resource/quota.ts';
import { checkedConfig } from './datasource-config.ts';

/** What every upload of a source says. */
export interface UploadInput {
  file: IncomingFile;
  /** Instead of the name that the file comes with. */
  filename?: string | null;
  /** Keys of the config that shall be otherwise than what the file was recognised as. */
  config?: Record<string, unknown> | null;
}

/** A file whose bytes are kept and whose driver is known. A row must name it, or it goes again. */
export interface ReceivedFile {
  id: string;
  filename: string;
  contentType: string;
  size: number;
  sha256: string;
  driver: Driver & Required<Pick<Driver, 'upload'>>;
  config: Record<string, unknown>;
}

/** Looking at a file may take its whole length, so few are looked at at once. */
const LOOKING = new ConcurrencyGate(4, 100, 'Too many files wait to be looked at');

/**
 * Takes the file in, finds out what it is and lets `work` make of it what shall be. Whatever goes wrong, no file stays that no row names.
 * 413 past `MAX_UPLOAD_BYTES` or the quota, 400 for what no driver knows.
 */
export async function receiveFile<I extends UploadInput, T>(
  ctx: Context,
  given: I,
  work: (file: ReceivedFile, input: Omit<I, keyof UploadInput>) => Promise<T>,
): Promise<T> {
  const limit = await limitFor(ctx, given.file.minSize);
  const saved = await ctx.platform.files.save(given.file.content, limit);
  try {
    const { file, filename, config, ...input } = ((await given.file.wholeInput?.()) as I | undefined) ?? given;
    const name = cleanFilename(filename ?? file.filename);
    const found = await recognised(ctx, saved.id, name);
    const received = {
      ...saved,
      ...found,
      filename: name,
      contentType: file.contentType.slice(0, 255),
      config: checkedConfig(found.driver, { ...found.config, ...config }),
    };
    return await work(received, input);
  } catch (error) {
    await forget(ctx, saved.id);
    throw error;
  }
}

/** How many bytes the file may have; 0 is unlimited. What says at once that it is too large is refused at once. */
async function limitFor({ platform: { config }, viewer, query }: Context, leastSize: number): Promise<number> {
  const { MAX_UPLOAD_BYTES: most, TENANT_QUOTA_BYTES: quota } = config;
  const left = quota > 0 ? quota - (await loadBytesUsed({ query }, viewer.tenantId)) : Infinity;
  if (left <= 0) throw tooLarge(`The quota of ${quota} bytes is used up`);
  const limit = Math.min(most || Infinity, left);
  if (leastSize > limit) throw tooLarge(`The file has more than ${limit} bytes, the most that can be taken`);
  return limit === Infinity ? 0 : limit;
}

/** Asks each driver whether the file is one of its kinds. */
async function recognised(
  { platform, request }: Context,
  id: string,
  filename: string,
): Promise<Pick<ReceivedFile, 'driver' | 'config'>> {
  const drivers = [...platform.drivers.values()].filter(
    (driver) => driver.upload !== undefined,
  ) as ReceivedFile['driver'][];
  const late = AbortSignal.timeout(platform.config.QUERY_TIMEOUT_MS);
  const stop = AbortSignal.any([request.signal, late]);
  try {
    return await LOOKING.run(stop, async () => {
      for (const driver of drivers) {
        const config = await driver.upload.recognise(platform.files.path(id), filename, stop);
        if (config) return { driver, config };
      }
      throw badInput(
        `"${filename}" is no file that can be read; known are ${drivers.map(({ name }) => name).join(', ')}`,
      );
    });
  } catch (error) {
    if (request.signal.aborted) throw cancelled(undefined, { cause: error });
    if (late.aborted)
      throw upstreamFailed(`Looking at "${filename}" took longer than ${platform.config.QUERY_TIMEOUT_MS} ms`, {
        cause: error,
      });
    throw error;
  }
}

/** Removes the bytes unless a row names them. What cannot be removed now the janitor finds. */
async function forget({ platform, query }: Context, id: string): Promise<void> {
  try {
    const rows = await query({ text: `select from dws.stored_file where id = $1`, values: [id] });
    if (rows.length === 0) await platform.files.remove(id);
  } catch (error) {
    platform.log.warn({ err: error, file: id }, 'A file could not be removed');
  }
}
