#!/usr/bin/env node
import { widenThreadPool } from '../core/config.ts';

if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`The service needs Node 24 or newer; this is ${process.version}. \`npm start\` brings its own.`);
  process.exit(1);
}
widenThreadPool();
// Only now, so that an old Node gets the sentence above and libuv the wider pool.
const { runCommand } = await import('./cli/cli.ts');
await runCommand(process.argv);
