import { resolve } from 'node:path';
import { z } from 'zod';

const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');
const count = (defaultValue: number, min = 0) =>
  z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .default(defaultValue);
const commaSeparated = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  );
const urlWith = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (text) => {
        try {
          return protocols.includes(new URL(text).protocol.slice(0, -1));
        } catch {
          return false;
        }
      },
      `must be a URL that starts with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
    )
    .optional();

/** The environment variables and their defaults. See docs/contract.md#running-it. */
const variables = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number('must be a number').int().min(0).max(65535, 'must be a port').default(4000),
  DATA_DIR: z.string().min(1).default('.data'),
  DATABASE_URL: urlWith('postgres', 'postgresql'),
  ELASTICSEARCH_URL: urlWith('http', 'https'),
  APP_SECRET: z.string().optional(),
  ADMIN_USERNAME: z.string().min(1).default('admin'),
  ADMIN_PASSWORD: z.string().min(12, 'must have at least 12 characters').optional(),
  SEED_DEMO: flag.optional(),
  ROLE: z.enum(['all', 'web', 'worker'], 'must be all, web or worker').default('all'),
  WORKER_CONCURRENCY: count(4, 1),
  PUBLIC_URL: urlWith('http', 'https'),
  TRUST_PROXY: commaSeparated,
  CORS_ORIGINS: commaSeparated,
  SMTP_URL: urlWith('smtp', 'smtps'),
  MAIL_FROM: z
    .string()
    .regex(
      /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
      'must be an address, like Data Workspace <workspace@example.com>',
    )
    .optional(),
  QUERY_TIMEOUT_MS: count(60_000, 1),
  REFRESH_TIMEOUT_MS: count(3_600_000, 1),
  MAX_UPLOAD_BYTES: count(100_000_000),
  MAX_DATASET_ROWS: count(0),
  TENANT_QUOTA_BYTES: count(0),
  RATE_LIMIT_API: count(1200),
  RATE_LIMIT_LOGIN: count(10),
  PUBLIC_SCHEMA: flag.default(true),
  METRICS_TOKEN: z.string().min(1).optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'must be a level of pino')
    .default('info'),
});

/** The service's configuration: sizes in bytes, times in milliseconds, `DATA_DIR` absolute. */
export type Config = z.output<typeof variables>;

/**
 * Reads the configuration from the environment. `overrides` take precedence, and an empty variable counts as unset.
 * Throws an error that names the variable of the first invalid value.
 */
export function readConfig(overrides: Record<string, string> = {}): Config {
  const values = Object.fromEntries(
    Object.entries({ ...process.env, ...overrides }).filter(([name, value]) => name in variables.shape && value !== ''),
  );
  const parsed = variables.safeParse(values);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new Error(
      `${issue.path.join('.')} ${issue.message.startsWith('must') ? issue.message : `is malformed: ${issue.message}`}`,
    );
  }
  return { ...parsed.data, DATA_DIR: resolve(parsed.data.DATA_DIR) };
}

/**
 * Sets the number of libuv threads to 16: the index may occupy nine of them for seconds, and file access and DNS
 * lookups use the same pool. Must be called before the pool is first used.
 */
export function widenThreadPool(): void {
  process.env.UV_THREADPOOL_SIZE ??= '16';
}

const CHILD_VARIABLES = ['PATH', 'TMPDIR', 'LANG', 'LC_ALL', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

/** Returns the environment for child processes. It contains no secrets. */
export const childEnvironment = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => CHILD_VARIABLES.includes(name)));
