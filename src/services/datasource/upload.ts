import type { Datasource } from '../../../entities/datasource.ts';
import type { UploadDatasourceInput } from '../../../entities/upload-input.ts';
import type { Context } from '../../core/context.ts';
import { badInput, cancelled, tooLarge, upstreamFailed } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import { cleanFilename } from '../../core/files.ts';
import { invalid } from '../../core/input-checks.ts';
import type { Driver, FileProblem } from '../../core/row-source.ts';
import { withTimeout } from '../../core/with-timeout.ts';
import { loadBytesLeft } from '../resource/quota.ts';
import { deleteUnreferenced } from '../resource/stored-file.ts';
import { isValidConfig, validateDatasourceConfig } from './datasource-config.ts';
import { notStarted } from './datasource-connection.ts';

/** The part of an upload's input that describes the file. */
type UploadInput = Pick<UploadDatasourceInput, 'file' | 'filename' | 'config'>;

/** A driver that reads uploaded files. */
type FileDriver = Driver & Required<Pick<Driver, 'upload'>>;

/** A file in the file store whose driver is known. It is deleted unless a row of `stored_file` refers to it. */
export interface ReceivedFile {
  id: string;
  filename: string;
  contentType: string;
  /** Size in bytes. */
  size: number;
  sha256: string;
  driver: FileDriver;
  config: Record<string, unknown>;
  /** Questions that the user should decide. */
  problems: FileProblem[];
}

/** Detecting the type of a file can require reading all of it, so only a few files are processed at a time. */
const DETECTION_GATE = FairGate.shared({ places: 4, maxWaiting: 100, taskNoun: 'uploads' });

/** The driver and settings of the file that an uploaded one replaces. */
type FormerSettings = Pick<Datasource, 'type' | 'config'>;

/**
 * Stores an uploaded file, detects its driver and passes it to `work`. On failure the stored file is deleted. A
 * replacement is read with the settings of the `former` file where possible. Throws PAYLOAD_TOO_LARGE past
 * `MAX_UPLOAD_BYTES` or the tenant's quota, BAD_USER_INPUT for an unsupported file.
 */
export async function receiveFile<I extends UploadInput, T>(
  ctx: Context,
  initialInput: I,
  work: (file: ReceivedFile, input: Omit<I, keyof UploadInput>) => Promise<T>,
  former?: FormerSettings,
): Promise<T> {
  const maxBytes = await maxBytesFor(ctx, initialInput.file.minSize);
  const saved = await ctx.platform.files.save(initialInput.file.content, maxBytes);
  try {
    // A form may have further parts after the file, so its input is complete only now.
    const wholeInput = ((await initialInput.file.wholeInput?.()) as I | undefined) ?? initialInput;
    const { file, filename: filenameInput, config, ...input } = wholeInput;
    const filename = cleanFilename(filenameInput ?? file.filename);
    const received = {
      ...saved,
      ...(await detectDriver(ctx, saved.id, filename, config ?? {}, former)),
      filename,
      contentType: file.contentType.slice(0, 255),
    };
    return await work(received, input);
  } catch (error) {
    await deleteUnreferenced(ctx, [saved.id]);
    throw error;
  }
}

/** Returns the maximum size of the file in bytes, 0 for unlimited. Throws early if `minSize` already exceeds it. */
export async function maxBytesFor({ platform: { config }, viewer, query }: Context, minSize: number): Promise<number> {
  const { MAX_UPLOAD_BYTES, TENANT_QUOTA_BYTES: quota } = config;
  const maxBytes = Math.min(MAX_UPLOAD_BYTES || Infinity, await loadBytesLeft({ query }, viewer.tenantId, quota));
  if (minSize > maxBytes) throw tooLarge(`The file is larger than the maximum of ${maxBytes} bytes`);
  return maxBytes === Infinity ? 0 : maxBytes;
}

/**
 * Checks that a stored file can be read with a config that has types of its columns. Throws BAD_USER_INPUT like an upload,
 * naming the first value that does not fit.
 */
export async function checkFileConfig(
  ctx: Context,
  driver: Driver,
  fileId: string,
  config: Record<string, unknown>,
): Promise<void> {
  if (!driver.upload || !Object.hasOwn(config, 'columns')) return;
  const found = await whileDetecting(ctx, 'the file', (stop) =>
    driver.upload!.detectConfig(ctx.platform.files.path(fileId), '', stop, config),
  );
  if (!found) throw invalid('config', 'does not fit the file, which cannot be read as a table with it');
}

/** Runs `work` on a file when a place is free. Throws UPSTREAM_FAILED past `QUERY_TIMEOUT_MS`. */
async function whileDetecting<T>(
  { platform, request, viewer }: Context,
  file: string,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const { QUERY_TIMEOUT_MS } = platform.config;
  let hasStarted = false;
  const timeoutError = () =>
    hasStarted
      ? upstreamFailed(`Detecting the type of ${file} took longer than ${QUERY_TIMEOUT_MS} ms`)
      : notStarted('upload', QUERY_TIMEOUT_MS);
  try {
    return await withTimeout(QUERY_TIMEOUT_MS, timeoutError, [request.signal], (stop) =>
      DETECTION_GATE.run(viewer, stop, () => {
        hasStarted = true;
        return work(stop);
      }),
    );
  } catch (error) {
    if (request.signal.aborted) throw cancelled(undefined, { cause: error });
    throw error;
  }
}

/**
 * Finds the driver that can read the file, and its settings. The caller may give some of them. Throws BAD_USER_INPUT
 * if no driver can, or if the driver does not accept the given settings.
 */
async function detectDriver(
  ctx: Context,
  id: string,
  filename: string,
  given: Record<string, unknown>,
  former?: FormerSettings,
): Promise<Pick<ReceivedFile, 'driver' | 'config' | 'problems'>> {
  const { platform } = ctx;
  const drivers = [...platform.drivers.values()].filter((driver) => driver.upload !== undefined) as FileDriver[];
  return whileDetecting(ctx, JSON.stringify(filename), async (stop) => {
    for (const driver of drivers) {
      // Settings that the driver does not accept are an error only if the file is of its type.
      const accepted = isValidConfig(driver, given) ? given : {};
      const like = former?.type === driver.id ? former.config : undefined;
      const found = await driver.upload.detectConfig(platform.files.path(id), filename, stop, accepted, like);
      if (!found) continue;
      const config = validateDatasourceConfig(driver, { ...found.config, ...given });
      return { driver, config, problems: found.problems };
    }
    const supported = drivers.map(({ name }) => name).join(', ');
    throw badInput(`${JSON.stringify(filename)} is not a supported file. Supported types: ${supported}`);
  });
}
