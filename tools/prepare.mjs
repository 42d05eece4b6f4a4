/**
 * What stands behind `npm start` and `npm test`: makes the checkout ready (packages, Node 24, build) and runs the wanted thing.
 * It runs on whatever Node the machine has, from 20 on, before anything is installed: hence plain JavaScript and no packages.
 *
 *   node tools/prepare.mjs start [options of `dws serve`]
 *   node tools/prepare.mjs test [options of `vitest run`]
 *   node tools/prepare.mjs build
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));

const LOCK = '.cache/prepare.lock';
const MAIN = 'dist/src/server/main.js';
const major = (version) => Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);
const readJson = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined);

/** Ends with a sentence instead of a stack trace. */
function giveUp(sentence, code = 1) {
  console.error(`\n${sentence}`);
  process.exit(code);
}

/** Whether node_modules holds exactly what package-lock.json asks for; npm writes its own list there when an installation is complete. */
function isInstalled() {
  const wanted = readJson('package-lock.json').packages;
  const present = readJson('node_modules/.package-lock.json')?.packages ?? {};
  // What belongs to other platforms is optional and absent.
  const fits = (path) =>
    present[path]
      ? present[path].version === wanted[path].version && present[path].integrity === wanted[path].integrity
      : wanted[path].optional;
  return (
    Object.keys(present).every((path) => path in wanted) &&
    Object.keys(wanted).every((path) => path === '' || fits(path))
  );
}

function install() {
  console.log('Installing packages (npm ci) ...');
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  // Embedded Postgres needs its install script, and the build its development packages, whatever the user's npm settings say.
  const options = [
    'ci',
    '--prefer-offline',
    '--ignore-scripts=false',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const { status, error } = spawnSync(npm[0], [...npm.slice(1), ...options], { stdio: 'inherit' });
  if (status !== 0) giveUp(`npm ci failed${error ? `: ${error.message}` : ', see above'}.`, status ?? 1);
}

/** The pinned Node 24 from node_modules, or the running Node where the platform has no such package. */
function findNode() {
  const pinned = 'node_modules/.bin/node';
  if (existsSync(pinned) && major(spawnSync(pinned, ['--version'], { encoding: 'utf8' }).stdout ?? '') >= 24)
    return join(process.cwd(), pinned);
  if (major(process.version) >= 24) return process.execPath;
  return giveUp(
    `There is no packaged Node 24 for ${process.platform} on ${process.arch}, and this is Node ${process.version}. Install Node 24 or newer and run again.`,
  );
}

/** A fingerprint of all that the build reads. */
function sourceHash() {
  const hash = createHash('sha256');
  const files = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const room of ['src', 'entities', 'resolvers', 'rest-bridge']) {
    for (const file of readdirSync(room, { recursive: true }))
      if (/\.(ts|json)$/.test(file)) files.push(join(room, file));
  }
  for (const file of files.toSorted()) hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

const isBuilt = () => existsSync('dist/.sources') && readFileSync('dist/.sources', 'utf8') === sourceHash();

/** Builds beside the present `dist` and then takes its place, so that a failed build changes nothing and deleted sources leave nothing. */
function build(node) {
  console.log('Building ...');
  const hash = sourceHash();
  rmSync('dist.new', { recursive: true, force: true });
  const { status } = spawnSync(
    node,
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', 'dist.new'],
    { stdio: 'inherit' },
  );
  if (status !== 0) {
    rmSync('dist.new', { recursive: true, force: true });
    giveUp('The build failed, see above.', status ?? 1);
  }
  writeFileSync('dist.new/.sources', hash);
  rmSync('dist', { recursive: true, force: true });
  renameSync('dist.new', 'dist');
}

/** Runs `work` unless `done()`; of several processes in this checkout one at a time, and the others find it done. */
async function ensure(done, work) {
  if (done()) return;
  mkdirSync('.cache', { recursive: true });
  let told = false;
  for (let holder = lock(); holder !== process.pid; holder = lock()) {
    if (holder && !told) console.log(`Waiting for process ${holder}, which prepares this checkout ...`);
    told ||= holder > 0;
    await new Promise((wake) => setTimeout(wake, 200));
  }
  // `giveUp` ends the process, so the lock is let go on exit rather than in a `finally`.
  const unlock = () => rmSync(LOCK, { force: true });
  process.once('exit', unlock);
  if (!done()) work();
  unlock();
  process.removeListener('exit', unlock);
}

/** Takes the lock file and answers who has it: this process, another one, or 0 when nobody has it at the moment (try again). */
function lock() {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return process.pid;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const { mtimeMs } = statSync(LOCK, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
  const holder = existsSync(LOCK) ? Number(readFileSync(LOCK, 'utf8')) : 0;
  if (holder && isAlive(holder)) return holder;
  // The holder is gone, or was killed before it could write its number.
  if (holder || Date.now() - mtimeMs > 5_000) rmSync(LOCK, { force: true });
  return 0;
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Runs a program in our place: signals go to it, its end is ours. It ends with us when we are killed, for its channel closes, and we with npm when that is. */
function become(node, args) {
  const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
  const npm = process.env.npm_lifecycle_event === 'start' ? process.ppid : undefined;
  if (npm)
    setInterval(() => {
      if (process.ppid !== npm) process.exit(1);
    }, 200).unref();
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** The whole truth, step by step, until one fails: what `npm test` means. */
function test(node, args) {
  const steps = [
    ['Lint', 'node_modules/oxlint/bin/oxlint', ['--quiet', '--type-aware']],
    ['Types', 'node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']],
    ['Rooms (which folder may import which)', 'tools/rooms.mjs', []],
    ['Generated files', MAIN, ['schema', 'check']],
    ['Tests', 'node_modules/vitest/vitest.mjs', ['run', ...args]],
  ];
  for (const [name, program, options] of steps) {
    console.log(`\n== ${name}`);
    const { status, signal } = spawnSync(node, [program, ...options], { stdio: 'inherit' });
    if (status !== 0) giveUp(`npm test stopped at: ${name}${signal ? ` (${signal})` : ''}`, status ?? 1);
  }
}

const [command, ...args] = process.argv.slice(2);
if (major(process.version) < 20) giveUp(`Node 20 or newer is needed to install and build; this is ${process.version}.`);
await ensure(isInstalled, install);
const node = findNode();
await ensure(isBuilt, () => build(node));
if (command === 'start') become(node, ['--enable-source-maps', MAIN, 'serve', ...args]);
else if (command === 'test') test(node, args);
else if (command !== 'build') giveUp('usage: node tools/prepare.mjs start|test|build');
