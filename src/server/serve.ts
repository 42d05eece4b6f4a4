import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { startEmbeddedPostgres } from '../adapters/embedded-postgres/embedded-postgres.ts';
import { lowerThreadPoolPriority } from '../adapters/process/priority.ts';
import { keepSpares } from '../adapters/process/spare-process.ts';
import type { Config } from '../core/config.ts';
import type { Platform } from '../core/platform.ts';
import { bootstrap, forgetFirstPassword, type FirstLogin } from '../services/identity/bootstrap.ts';
import { createLogger, openLogStream } from './logger.ts';
import { migrate } from './migrate.ts';
import { openPlatform } from './platform.ts';
import { listenFailure, prepareStart } from './start-checks.ts';
import { startTracing } from './tracing.ts';

/** Pause between two measurements of the stored bytes. */
const STORE_SIZES_INTERVAL_MS = 60_000;

/** A running process of the service. */
interface RunningService {
  /** URL where it listens. */
  url: string;
  /** Stops accepting work, finishes or requeues running operations, and closes all connections. */
  stop(): Promise<void>;
}

/**
 * Starts the service: Postgres, migrations, first superuser, HTTP, workers as `ROLE` requires, and the demo.
 * See docs/contract/running.md#running-it.
 */
export async function serve(config: Config): Promise<RunningService> {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of closers.reverse().splice(0)) await close();
  };
  const log = createLogger(config.LOG_LEVEL, await openLogStream());
  try {
    const folder = await prepareStart(config);
    lowerThreadPoolPriority();
    closers.push(await startTracing(config, log));
    const endSpares = keepSpares();
    closers.push(async () => endSpares());
    const embedded = config.DATABASE_URL ? null : await startEmbeddedPostgres({ dataDir: folder });
    if (embedded) closers.push(() => embedded.close());
    const databaseUrl = config.DATABASE_URL ?? embedded!.url;
    await migrate(databaseUrl);

    const host = config.HOST.includes(':') ? `[${config.HOST}]` : config.HOST;
    const publicUrl = (config.PUBLIC_URL ?? `http://${host}:${config.PORT}`).replace(/(?<!\/)\/+$/, '');
    const opened = await openPlatform(config, databaseUrl, log, publicUrl);
    const { platform } = opened;
    closers.push(opened.close);
    const login = await bootstrap(platform.system, platform.secrets, {
      username: config.ADMIN_USERNAME,
      password: config.ADMIN_PASSWORD,
    });

    const app = await createServer(platform);
    await app.listen({ host: config.HOST, port: config.PORT }).catch((error: unknown) => {
      throw listenFailure(error, config);
    });
    closers.push(() => app.close());
    if (config.ROLE !== 'web') {
      const { startWorker } = await import('./worker.ts');
      const worker = await startWorker(opened);
      closers.push(() => worker.stop());
      const { startStoreSizes } = await import('../operations/store-sizes.ts');
      const sizes = startStoreSizes(platform, { interval: STORE_SIZES_INTERVAL_MS });
      closers.push(() => sizes.stop());
    }
    const { port } = app.server.address() as AddressInfo;
    const url = `http://${host}:${port}`;
    printAddress(url, login, config.ROLE);
    if (login) await forgetFirstPassword(platform.system);
    if (embedded && config.SEED_DEMO !== false && config.ROLE === 'all')
      closers.push(startSeeding(platform, embedded.url));
    else if (config.SEED_DEMO)
      console.log('SEED_DEMO requires the embedded Postgres and ROLE=all. No demo was created.');
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates the HTTP server of the process's role. Modules of the other role are not loaded. */
async function createServer(platform: Platform): Promise<FastifyInstance> {
  if (platform.config.ROLE === 'worker') {
    const { createWorkerServer } = await import('./worker-server.ts');
    return createWorkerServer(platform);
  }
  const [{ createHttpServer }, { createSchema }] = await Promise.all([
    import('./http.ts'),
    import('./graphql/schema.ts'),
  ]);
  return createHttpServer(platform, await createSchema());
}

/**
 * Creates the demo in the background. Returns a function that cancels it and waits for its end: to be called first when
 * stopping.
 */
function startSeeding(platform: Platform, adminUrl: string): () => Promise<void> {
  const stopping = new AbortController();
  const seeding = import('./demo/demo.ts').then(({ seedDemo }) =>
    seedDemo(platform, adminUrl, console.log, stopping.signal),
  );
  return () => {
    stopping.abort(new Error('the service is stopping; the next start continues'));
    return seeding;
  };
}

/** Prints the URL and the generated password of the first superuser, without logging them. */
function printAddress(url: string, login: FirstLogin | null, role: Config['ROLE']): void {
  if (role === 'worker')
    console.log(
      `\n  Worker of the Data Workspace Service at ${url}\n  Health ${url}/healthz   Readiness ${url}/readyz   Metrics ${url}/metrics`,
    );
  else
    console.log(
      `\n  Data Workspace Service at ${url}\n  GraphQL ${url}/graphiql   REST ${url}/api/docs\n` +
        `  Open front ends of your own at the host ${new URL(url).hostname}, too: from others, browsers send no session cookie`,
    );
  if (login) console.log(`\n  Username ${login.username}   Password ${login.password}   (shown this once)`);
  console.log('');
}
