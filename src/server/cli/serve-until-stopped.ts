import type { Config } from '../../core/config.ts';
import { serve } from '../serve.ts';

/** The process exits after this time even if stopping has not finished. See docs/contract/running.md#running-it. */
const SHUTDOWN_TIMEOUT_MS = 30_000;
/** Ctrl-C sends SIGINT several times within milliseconds: from the terminal, from npm and from its script. */
const REPEATED_SIGNAL_MS = 1000;

/**
 * Runs the service until SIGTERM or SIGINT, then stops it in order. A second Ctrl-C ends the process immediately; other
 * processes or the next start continue its work, as after a crash.
 */
export async function serveUntilStopped(config: Config): Promise<void> {
  const starting = serve(config);
  let stoppingSince: number | undefined;
  const stop = async () => {
    console.log('\n  Stopping ... (at most 30 seconds; Ctrl-C again ends the process immediately)');
    setTimeout(() => fail('Not stopped within 30 seconds.'), SHUTDOWN_TIMEOUT_MS).unref();
    await (await starting).stop();
    console.log('  Stopped.');
    process.exit(0);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now();
      stop().catch((error: Error) => fail(error.message));
    } else if (signal === 'SIGINT' && performance.now() - stoppingSince > REPEATED_SIGNAL_MS)
      fail('Ended before everything was stopped.');
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // The parent process was killed. Exit immediately, because the next start needs the data folder.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  await starting;
}

function fail(message: string): never {
  console.error(`  ${message}`);
  process.exit(1);
}
