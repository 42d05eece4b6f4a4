import { ApiError } from '../../core/errors.ts';
import type { ConnectionTest } from '../../core/row-source.ts';

/** Tests a source with `inspect`. A source that cannot be used is a result, not an error; only an abort is thrown. */
export async function connectionTest(
  signal: AbortSignal,
  inspect: () => Promise<Pick<ConnectionTest, 'version' | 'warnings'>>,
): Promise<ConnectionTest> {
  const start = performance.now();
  const latency = () => Math.round(performance.now() - start);
  try {
    const found = await inspect();
    return { ok: true, latency: latency(), ...found, message: null };
  } catch (error) {
    if (signal.aborted || !(error instanceof ApiError)) throw error;
    return { ok: false, latency: latency(), version: null, warnings: [], message: error.message };
  }
}
