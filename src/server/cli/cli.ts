import { Command, CommanderError } from 'commander';
import { readConfig } from '../../core/config.ts';
import { VERSION } from '../package-root.ts';

/** Options of `dws` itself. Any other option without a command belongs to `serve`. */
const PROGRAM_OPTIONS = ['-h', '--help', '-V', '--version'];

/**
 * Runs the command line `dws`, `serve` without a command. A failure prints one line to standard error and sets exit
 * code 1. See docs/contract/running.md#running-it.
 */
export async function runCommand(argv: string[]): Promise<void> {
  // Inherited by the commands: errors of usage are thrown once they are printed.
  const program = new Command('dws').exitOverride().showHelpAfterError('See `dws --help`.');
  program.description('Data Workspace Service').version(VERSION, '-V, --version', 'print the version');
  program.helpOption('-h, --help', 'print the commands, or the options of a command');
  program.helpCommand(false);
  program
    .command('serve')
    .description('start the service; the default')
    .option('--port <port>', 'port to listen on (default: PORT)')
    .option('--host <host>', 'address to listen on (default: HOST)')
    .action(async ({ port, host }: { port?: string; host?: string }) => {
      const config = readConfig({ ...(port && { PORT: port }), ...(host && { HOST: host }) });
      const { serveUntilStopped } = await import('./serve-until-stopped.ts');
      await serveUntilStopped(config);
    });
  const args = argv.slice(2);
  const [first] = args;
  const isDefault = first === undefined || (first.startsWith('-') && !PROGRAM_OPTIONS.includes(first));
  if (!isDefault && first !== 'serve') await addOtherCommands(program);
  try {
    await program.parseAsync(isDefault ? ['serve', ...args] : args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) console.error((error as Error).message);
    process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
  }
}

/** Adds the commands besides `serve`, whose modules a running service does not load. */
async function addOtherCommands(program: Command): Promise<void> {
  const { addOperatorCommands } = await import('./operator-commands.ts');
  const { addSchemaCommands } = await import('./schema-commands.ts');
  const { addSecretsCommands } = await import('./secrets-commands.ts');
  const { addToolkitCommands } = await import('./toolkit-commands.ts');
  addOperatorCommands(program);
  addSchemaCommands(program);
  addSecretsCommands(program);
  addToolkitCommands(program);
}
