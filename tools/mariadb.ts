/**
 * Runs a real MariaDB from Debian's packages, for tests and experiments:
 *
 *   node tools/mariadb.ts install    installs it by apt, as root or through sudo
 *   node tools/mariadb.ts run        runs one on a free port with an empty folder until Ctrl-C
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { account, engineFolder, freePort, hold, startEngine, type Engine } from './engine.ts';

const SERVER = '/usr/sbin/mariadbd';
const INSTALL_DB = '/usr/bin/mariadb-install-db';

/** Address of a running server. `user` has all privileges. */
export interface MariadbAddress {
  host: string;
  port: number;
  user: string;
  password: string;
}

export const isInstalled = (): boolean => existsSync(SERVER) && existsSync(INSTALL_DB);

/** Installs the server without starting one. */
export function install(): void {
  if (isInstalled()) return;
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  for (const command of [
    ['apt-get', 'update', '-qq'],
    [
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'RUNLEVEL=1',
      'apt-get',
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      'mariadb-server',
    ],
  ]) {
    const [program, ...args] = [...sudo, ...command];
    if (spawnSync(program!, args, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0)
      throw new Error(`${command.join(' ')} failed`);
  }
}

/** Starts an empty server on loopback. */
export async function start(): Promise<Engine<MariadbAddress>> {
  if (!isInstalled()) throw new Error('MariaDB is not installed: node tools/mariadb.ts install');
  const folder = engineFolder('mariadb');
  const data = join(folder, 'data');
  const made = spawnSync(
    INSTALL_DB,
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    { ...account, cwd: folder, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`mariadb-install-db failed: ${made.stdout}${made.stderr}`);
  const password = 'throw-away';
  // `init-file` expects one statement a line.
  const users = ['localhost', '127.0.0.1', '::1'].map(
    (host) =>
      `create or replace user root@'${host}' identified by '${password}';\n` +
      `grant all on *.* to root@'${host}' with grant option;\n`,
  );
  writeFileSync(join(folder, 'init.sql'), users.join(''));
  const port = await freePort();
  const options = [
    `--datadir=${data}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${folder}/socket`,
    `--pid-file=${folder}/pid`,
    `--init-file=${folder}/init.sql`,
    '--skip-log-bin',
    '--innodb-flush-log-at-trx-commit=0',
    '--local-infile=0',
  ];
  return startEngine(
    folder,
    [SERVER, '--no-defaults', ...options],
    {},
    { host: '127.0.0.1', port, user: 'root', password },
    () => accepts(port),
  );
}

/** Returns whether a server sends its greeting there, which MariaDB does once its `init-file` has run. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('data', () => resolve(true))
      .once('error', () => resolve(false))
      .once('close', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
}

if (import.meta.main) {
  const [command] = process.argv.slice(2);
  if (command === 'install') install();
  else if (command === 'run') await hold(start());
  else console.error('usage: node tools/mariadb.ts install|run');
}
