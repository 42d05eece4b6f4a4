import { Command } from 'commander';
import { readConfig } from '../../core/config.ts';
import { serve } from '../serve.ts';
import { addOperatorCommands } from './operator-commands.ts';
import { addSchemaCommands } from './schema-commands.ts';

/** The process exits after this time even if stopping has not finished. See docs/contract.md#running-it. */
const SHUTDOWN_TIMEOUT_MS = 30_000;

/**
 * Runs the command line `dws`. A failure prints one line to standard error and sets exit code 1. See
 * docs/contract.md#running-it.
 */
export async function runCommand(argv: string[]): Promise<void> {
  const program = new Command('dws').description('Data Workspace Service').showHelpAfterError();
  program
    .command('serve', { isDefault: true })
    .description('start the service')
    .option('--port <port>', 'port to listen on (default: PORT)')
    .option('--host <host>', 'address to listen on (default: HOST)')
    .action(async ({ port, host }: { port?: string; host?: string }) => {
      await serveUntilStopped(readConfig({ ...(port && { PORT: port }), ...(host && { HOST: host }) }));
    });
  addOperatorCommands(program);
  addSchemaCommands(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}

/** Runs the service until SIGTERM or SIGINT, then stops it in order. */
async function serveUntilStopped(config: ReturnType<typeof readConfig>): Promise<void> {
  const starting = serve(config);
  let stopping = false;
  const stop = async () => {
    // Ctrl-C sends the signal twice: from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS).unref();
    await (await starting).stop();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => void stop().catch(() => process.exit(1)));
  // The parent process was killed. Exit at once, because the next start needs the data folder.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  await starting;
}
