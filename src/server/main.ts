#!/usr/bin/env node
import module from 'node:module';
import { widenThreadPool } from '../core/process-environment.ts';

if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`The service requires Node 24 or newer; this is ${process.version}. \`npm start\` installs its own.`);
  process.exit(1);
}
// Stack traces name lines of the sources. Maps of packages would take 6 MiB.
module.setSourceMapsSupport(true, { nodeModules: false });
widenThreadPool();
// The reader of the output may leave, e.g. `dws doctor | head`: the command still ends normally.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
// Only its own user can access files of this process and its children, including those that DuckDB writes.
process.umask(0o077);
// Imported here, after the check above and before anything uses the thread pool.
const { runCommand } = await import('./cli/cli.ts');
await runCommand(process.argv);
