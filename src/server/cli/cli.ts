import { Command } from 'commander';
import { readConfig } from '../../core/config.ts';
import { serve } from '../serve.ts';
import { operatorCommands } from './operator-commands.ts';
import { schemaCommands } from './schema-commands.ts';

/** How long a stop may take before the process ends regardless (contract 1). Milliseconds. */
const SHUTDOWN_TIMEOUT_MS = 30_000;

/** The command line `dws` (contract 1). A failure is one sentence and exit code 1. */
export async function runCommand(argv: string[]): Promise<void> {
  const program = new Command('dws').description('Data Workspace Service').showHelpAfterError();
  program
    .command('serve', { isDefault: true })
    .description('start the service')
    .option('--port <port>', 'port to listen on, instead of PORT')
    .option('--host <host>', 'address to listen on, instead of HOST')
    .action(async ({ port, host }: { port?: string; host?: string }) => {
      await serveUntilStopped(readConfig({ ...(port && { PORT: port }), ...(host && { HOST: host }) }));
    });
  operatorCommands(program);
  schemaCommands(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}

/** Serves until SIGTERM or SIGINT, then stops in order. */
async function serveUntilStopped(config: ReturnType<typeof readConfig>): Promise<void> {
  const starting = serve(config);
  let stopping = false;
  const stop = async () => {
    // Ctrl-C reaches us through the terminal and through npm: once is enough.
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), SHUTDOWN_TIMEOUT_MS).unref();
    await (await starting).stop();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => void stop().catch(() => process.exit(1)));
  // Whoever started us with a channel was killed: nobody is left to tell us anything, and the next start needs the folder.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  await starting;
}
