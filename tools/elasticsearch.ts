/**
 * Runs a real Elasticsearch or OpenSearch from Maven Central, without a container, for tests and experiments:
 *
 *   node tools/elasticsearch.ts install [opensearch]    downloads it (100 MB, once per machine)
 *   node tools/elasticsearch.ts run [opensearch]        runs it on a free port with an empty folder until Ctrl-C
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { account, engineFolder, freePort, hold, startEngine, type Engine } from './engine.ts';

export type Distribution = 'elasticsearch' | 'opensearch';

interface Archive {
  path: string;
  sha512: string;
}

const ARCHIVES: Record<Distribution, Archive> = {
  elasticsearch: {
    path: 'org/elasticsearch/distribution/integ-test-zip/elasticsearch/9.2.0/elasticsearch-9.2.0.zip',
    sha512:
      '2c624e913bb8712fb1698fc1ab3a241c868228183f089ff3cde17ad7bc7b5a9663454c2af939c65e075663826371e3d4344dca43a55a8aab9594f9a64b01d2c7',
  },
  opensearch: {
    path: 'org/opensearch/distribution/integ-test-zip/opensearch/3.4.0/opensearch-3.4.0.zip',
    sha512:
      '18cb16a9d251f8e915fbc0ab64b53d2f1ee9299829673c7357446041ae42fe2094ab16c899edd944bd39aa49ed3aae799b1ff04084a1220d6c6676734a392117',
  },
};

/** The folder of installed engines: the user's cache, or for root a folder that the engines' user can enter. */
const CACHE =
  process.getuid?.() === 0
    ? '/var/cache/data-workspace-service'
    : join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'data-workspace-service');
const homeOf = (name: Distribution) => join(CACHE, ARCHIVES[name].path.split('/').at(-1)!.replace('.zip', ''));

/** Returns whether the engine can be started here without a download. */
export const isInstalled = (name: Distribution): boolean => existsSync(homeOf(name)) && javaHome() !== undefined;

/** Returns a JDK of version 21 or newer, undefined if the machine has none. */
function javaHome(): string | undefined {
  const jvms = '/usr/lib/jvm';
  const candidates = [
    process.env.JAVA_HOME,
    ...(existsSync(jvms) ? readdirSync(jvms).map((name) => join(jvms, name)) : []),
  ];
  return candidates.find((home) => home && existsSync(join(home, 'bin/java')) && versionOf(home) >= 21);
}

const versionOf = (home: string) =>
  Number(
    /version "(\d+)/.exec(spawnSync(join(home, 'bin/java'), ['-version'], { encoding: 'utf8' }).stderr ?? '')?.[1] ?? 0,
  );

/** Downloads the engine and unpacks it next to its final place, so that an installed engine is always complete. */
export async function install(name: Distribution): Promise<void> {
  if (!javaHome())
    throw new Error('Elasticsearch needs a JDK of version 21 or newer, in JAVA_HOME or below /usr/lib/jvm');
  if (existsSync(homeOf(name))) return;
  const { path, sha512 } = ARCHIVES[name];
  const url = `https://repo1.maven.org/maven2/${path}`;
  console.log(`Downloading ${url} ...`);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (createHash('sha512').update(bytes).digest('hex') !== sha512)
    throw new Error(`${url} is not the file that was expected`);
  const unpacked = join(CACHE, `${name}.${process.pid}`);
  mkdirSync(unpacked, { recursive: true, mode: 0o755 });
  writeFileSync(join(unpacked, 'archive.zip'), bytes);
  const unzip = spawnSync('unzip', ['-q', 'archive.zip'], { cwd: unpacked });
  const { status } = unzip.error
    ? spawnSync(join(javaHome()!, 'bin/jar'), ['xf', 'archive.zip'], { cwd: unpacked })
    : unzip;
  if (status !== 0) throw new Error('The archive could not be unpacked');
  const [folder] = readdirSync(unpacked).filter((file) => file !== 'archive.zip');
  for (const program of readdirSync(join(unpacked, folder!, 'bin')))
    chmodSync(join(unpacked, folder!, 'bin', program), 0o755);
  renameSync(join(unpacked, folder!), homeOf(name));
  rmSync(unpacked, { recursive: true });
}

/** Options of a JVM that runs for minutes during tests: half the processor time, as it optimizes less for later. */
const SHORT_LIVED = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** Starts an empty engine on loopback. */
export async function start(name: Distribution): Promise<Engine<{ url: string }>> {
  if (!isInstalled(name))
    throw new Error(`${name} is not installed, or there is no JDK 21: node tools/elasticsearch.ts install ${name}`);
  const folder = engineFolder(name);
  const [http, transport] = [await freePort(), await freePort()];
  const [config, temp, logs] = [join(folder, 'config'), join(folder, 'temp'), join(folder, 'logs')];
  cpSync(join(homeOf(name), 'config'), config, { recursive: true });
  writeFileSync(
    join(config, `${name}.yml`),
    [
      'discovery.type: single-node',
      'network.host: 127.0.0.1',
      `http.port: ${http}`,
      `transport.port: ${transport}`,
      `path.data: ${folder}/data`,
      `path.logs: ${logs}`,
      // Tests create many small indices, often on machines with fuller disks than the default watermarks permit.
      'cluster.routing.allocation.disk.threshold_enabled: false',
      'cluster.max_shards_per_node: 5000',
      ...(name === 'elasticsearch' ? ['xpack.security.enabled: false'] : []),
    ].join('\n'),
  );
  // By default the JVM writes its own log below the program's folder, which is read-only for it.
  writeFileSync(
    join(config, 'jvm.options'),
    readFileSync(join(config, 'jvm.options'), 'utf8').replaceAll('file=logs/', `file=${logs}/`),
  );
  for (const own of [temp, logs]) mkdirSync(own);
  if (account.uid) spawnSync('chown', ['-R', `${account.uid}:${account.gid}`, config, temp, logs]);
  const upper = name === 'elasticsearch' ? 'ES' : 'OPENSEARCH';
  const env = {
    [`${upper}_JAVA_HOME`]: javaHome()!,
    [`${upper}_PATH_CONF`]: config,
    [`${upper}_JAVA_OPTS`]: `-Xms1g -Xmx1g ${SHORT_LIVED} -XX:-UseG1GC -XX:-AlwaysPreTouch`,
    CLI_JAVA_OPTS: SHORT_LIVED,
    [`${upper}_TMPDIR`]: temp,
  };
  const url = `http://127.0.0.1:${http}`;
  return startEngine(
    folder,
    [join(homeOf(name), 'bin', name)],
    env,
    { url },
    async () => (await fetch(`${url}/_cluster/health`)).ok,
  );
}

if (import.meta.main) {
  const [command, name = 'elasticsearch'] = process.argv.slice(2);
  if (command === 'install') await install(name as Distribution);
  else if (command === 'run') await install(name as Distribution).then(() => hold(start(name as Distribution)));
  else console.error('usage: node tools/elasticsearch.ts install|run [opensearch]');
}
