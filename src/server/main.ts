import { runCommand } from './cli.ts';

if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`The service needs Node 24 or newer; this is ${process.version}. \`npm start\` brings its own.`);
  process.exit(1);
}
await runCommand(process.argv);
