import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { DestinationStream } from 'pino';
import { readConfig } from '../../src/core/config.ts';
import { newId } from '../../src/core/id.ts';
import type { Platform } from '../../src/core/platform.ts';
import { digest, generateSecret } from '../../src/core/secret.ts';
import { BODY_LIMITS, type BodyLimits } from '../../src/server/app-bodies.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import { createHttpServer } from '../../src/server/http.ts';
import { createLogger } from '../../src/server/logger.ts';
import { openPlatform } from '../../src/server/platform.ts';
import { startWorker } from '../../src/server/worker.ts';
import { createTenant, createUser } from '../../src/services/identity/bootstrap.ts';
import { Client } from './client.ts';
import { closable } from './failed-attempts.ts';
import { createDatabase } from './postgres.ts';

export const PASSWORD = 'correct horse battery';

/** A whole service in this process: its own database and data folder, HTTP on a loopback port, a worker. */
export interface Service {
  url: string;
  databaseUrl: string;
  platform: Platform;
  app: FastifyInstance;
  /** Creates a user with the permissions of a new user, and returns a client with an API token of this user. */
  user(name: string, options?: UserOptions): Promise<Client>;
  /** Returns a client of the same service with the session of a new login, as a browser on the service's own pages. */
  login(name: string, options?: { tenant?: string; password?: string }): Promise<Client>;
  close(): Promise<void>;
}

interface UserOptions {
  tenant?: string;
  superuser?: boolean;
  permissions?: string[];
  scopes?: string[];
}

export interface ServiceOptions {
  /** Database of another service, to run two processes of one service. Default: a new database. */
  databaseUrl?: string;
  /** Receives the log. */
  log?: DestinationStream;
  /** Bounds of the bodies of apps, where they differ from the defaults. */
  bodyLimits?: Partial<BodyLimits>;
}

/** Builds the schema, and compiles the rows of REST against it: 0.5 s. */
async function createApi() {
  const schema = await createSchema();
  return { schema, endpoints: endpointsOf(schema) };
}

let api: ReturnType<typeof createApi> | undefined;

/** The schema and the rows of all services of this process. Services do not change them. */
const sharedApi = (): ReturnType<typeof createApi> => (api ??= createApi());

/** Starts a service; docs/contract/running.md#running-it describes the `variables`. */
export async function startService(
  variables: Record<string, string> = {},
  { databaseUrl, log, bodyLimits }: ServiceOptions = {},
): Promise<Service> {
  // As in src/server/main.ts.
  process.umask(0o077);
  const database = databaseUrl ? { url: databaseUrl, drop: async () => {} } : await createDatabase();
  const dir = mkdtempSync(join(tmpdir(), 'dws-data-'));
  const config = readConfig({
    DATABASE_URL: database.url,
    DATA_DIR: dir,
    APP_SECRET: 'a secret for tests of enough characters',
    RATE_LIMIT_API: '0',
    RATE_LIMIT_LOGIN: '0',
    RATE_LIMIT_WEBHOOK: '0',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
    ...variables,
  });
  const opened = await openPlatform(
    config,
    database.url,
    createLogger(config.LOG_LEVEL, log),
    config.PUBLIC_URL ?? 'http://127.0.0.1',
  );
  const { schema, endpoints } = await sharedApi();
  const limits = { ...BODY_LIMITS, ...bodyLimits };
  const app = await createHttpServer(opened.platform, schema, { endpoints, bodyLimits: limits });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const worker = config.ROLE === 'web' ? null : await startWorker(opened);
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const { system } = opened.platform;
  if (!databaseUrl) for (const tenant of ['default', 'other']) await createTenant(system, tenant);

  return {
    url,
    databaseUrl: database.url,
    platform: opened.platform,
    app,
    async user(name, { tenant = 'default', superuser = false, permissions, scopes = ['read', 'write'] } = {}) {
      const id = await createUser(system, tenant, name, PASSWORD, superuser);
      if (permissions)
        await system.query({
          text: `update dws.app_user set permissions = $2 where id = $1`,
          values: [id, JSON.stringify(permissions)],
        });
      const token = `dws_${generateSecret()}`;
      await system.query({
        text: `insert into dws.api_token (id, tenant_id, user_id, name, token_hash, prefix, scopes)
          select $1, tenant_id, id, 'test', $3, 'dws_test', $4 from dws.app_user where id = $2`,
        values: [newId(), id, digest(token), JSON.stringify(scopes)],
      });
      return new Client(url, { authorization: `Bearer ${token}` }, { id, username: name });
    },
    async login(name, { tenant = 'default', password = PASSWORD } = {}) {
      const response = await new Client(url).post('/login', { username: name, password, tenant });
      if (response.status !== 200)
        throw new Error(`${name} cannot log in: ${response.status} ${JSON.stringify(response.body)}`);
      const cookie = response.headers.getSetCookie()[0]!.split(';')[0]!;
      return new Client(
        url,
        { cookie, 'sec-fetch-site': 'same-origin' },
        { id: response.body.user.id, username: name },
      );
    },
    close: closable(async () => {
      await worker?.stop();
      await app.close();
      await opened.close();
      await database.drop();
      rmSync(dir, { recursive: true, force: true });
    }),
  };
}
