import { totalmem } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { passwordIssue, usernameIssue } from './account-rules.ts';
import { DOCUMENTS_MODES } from './documents-mode.ts';

/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const MIN_SECRET_LENGTH = 32;

const oneOf = <const T extends string>(...values: readonly T[]) =>
  z.enum(values, `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`);
const flag = oneOf('true', 'false', '1', '0').transform((text) => text === 'true' || text === '1');
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .refine((text) => /^\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
const count = (defaultValue: number) => wholeNumber(0, Number.MAX_SAFE_INTEGER).default(defaultValue);
const duration = (defaultValue: number) => wholeNumber(1, MAX_TIMER_MS).default(defaultValue);

/** A list separated by commas. `isValid` checks each part. */
const commaSeparated = (isValid: (part: string) => boolean, message: string) =>
  z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .refine((parts) => parts.every(isValid), { error: message });
const urlWith = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (text) => {
        const url = URL.parse(text);
        // pg connects to a local socket without a host.
        const hasHost = url?.host !== '' || protocols.includes('postgres');
        return url !== null && hasHost && protocols.includes(url.protocol.slice(0, -1));
      },
      { error: `must be a URL that starts with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}` },
    )
    .optional();

/** Whether a path can be appended to a URL. */
const isPlainUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && !/[?#]/.test(text) && url.username === '' && url.password === '';
};
const isOrigin = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && url.host !== '' && text === `${url.protocol}//${url.host}`;
};
const hostSchema = z.union([z.ipv4(), z.ipv6(), z.string().regex(/^(?!-)[\w-]+(\.[\w-]+)*$/)], {
  error: 'must be an IP address or a host name',
});
/** A host name, an address or a range of addresses. A name that ends with a number would be an address. */
const allowedHostSchema = z.union([
  z.ipv4(),
  z.ipv6(),
  z.cidrv4(),
  z.cidrv6(),
  z.string().regex(/^(?!-)(?:[\w-]+\.)*(?!\d+$|0x[\da-f]*$)[\w-]+$/i),
]);
const proxySchema = z.union([
  z.ipv4(),
  z.ipv6(),
  z.cidrv4(),
  z.cidrv6(),
  z.enum(['loopback', 'linklocal', 'uniquelocal']),
]);

/** A quarter of the memory of the machine, or of the container (cgroup) if it has less. */
const QUARTER_OF_MEMORY = Math.floor(Math.min(process.constrainedMemory() || Infinity, totalmem()) / 4);

/** The environment variables and their defaults. See docs/contract/running.md#running-it. */
const variables = z.object({
  HOST: hostSchema.default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  DATA_DIR: z.string().min(1).default('.data'),
  DATABASE_URL: urlWith('postgres', 'postgresql'),
  APPS_DATABASE_URL: urlWith('postgres', 'postgresql'),
  ELASTICSEARCH_URL: urlWith('http', 'https'),
  APP_SECRET: z
    .string()
    .refine((ring) => newestKey(ring).length >= MIN_SECRET_LENGTH, {
      error: `must have at least ${MIN_SECRET_LENGTH} characters`,
    })
    .optional(),
  ADMIN_USERNAME: z.string().default('admin'),
  ADMIN_PASSWORD: z.string().optional(),
  SEED_DEMO: flag.optional(),
  ROLE: oneOf('all', 'web', 'worker').default('all'),
  WORKER_CONCURRENCY: wholeNumber(1, 1000).default(8),
  PUBLIC_URL: urlWith('http', 'https'),
  TRUST_PROXY: commaSeparated(
    (part) => proxySchema.safeParse(part).success,
    'must list IP addresses, CIDR ranges, loopback, linklocal or uniquelocal, separated by commas',
  ),
  CORS_ORIGINS: commaSeparated(isOrigin, 'must list origins like https://app.example.com, separated by commas'),
  COOKIE_SAME_SITE: oneOf('lax', 'none').default('lax'),
  REDIRECT_HOSTS: commaSeparated(
    (part) => hostSchema.safeParse(part).success,
    'must list host names and IP addresses, separated by commas',
  ),
  OUTBOUND_ALLOW: commaSeparated(
    (part) => allowedHostSchema.safeParse(part).success,
    'must list host names, IP addresses and CIDR ranges, separated by commas',
  ),
  SMTP_URL: urlWith('smtp', 'smtps'),
  MAIL_FROM: z
    .string()
    .regex(
      /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
      'must be an address, like Data Workspace <workspace@example.com>',
    )
    .optional(),
  CHROMIUM_PATH: z
    .string()
    .refine((path) => isAbsolute(path), { error: 'must be an absolute path' })
    .optional(),
  SANDBOX_PROCESSES: wholeNumber(1, 64).default(8),
  QUERY_TIMEOUT_MS: duration(60_000),
  REFRESH_TIMEOUT_MS: duration(3_600_000),
  MAX_UPLOAD_BYTES: count(100_000_000),
  MAX_DATASET_ROWS: count(0),
  TENANT_QUOTA_BYTES: count(0),
  TENANT_DATABASE_BYTES: count(5_000_000_000),
  APP_QUOTA_BYTES: count(1_000_000_000),
  RESERVED_DISK_BYTES: count(2_000_000_000),
  APPS_MEMORY_BYTES: count(QUARTER_OF_MEMORY),
  RATE_LIMIT_API: count(1200),
  RATE_LIMIT_LOGIN: count(10),
  RATE_LIMIT_WEBHOOK: count(600),
  LICENSE_MANAGER_URL: urlWith('http', 'https').refine((text) => text === undefined || isPlainUrl(text), {
    error: 'must be a URL without username, password, query and fragment',
  }),
  CREDITS_INCLUDED: wholeNumber(0, 999_999_999).default(1000),
  DOCUMENTS_MODE: oneOf(...DOCUMENTS_MODES).default('OFF'),
  AUDIT_ROW_READS: flag.default(false),
  PUBLIC_SCHEMA: flag.default(true),
  METRICS_TOKEN: z
    .string()
    .regex(/^[!-~](?:[ -~]*[!-~])?$/, 'must consist of ASCII characters, without blanks around them')
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlWith('http', 'https'),
  OTEL_SERVICE_NAME: z
    .string()
    .regex(/^\P{Cc}{1,255}$/u, 'must have at most 255 characters, without line breaks')
    .default('data-workspace-service'),
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
});

/** Former keys in the ring may be shorter, so that they can be replaced. */
const newestKey = (ring: string): string =>
  ring
    .split(',')
    .find((key) => key.trim() !== '')
    ?.trim() ?? '';

/** Rules over several variables. The first superuser obeys the rules of all users: checked before a cluster is created. */
const schema = variables.superRefine((values, context) => {
  const { ADMIN_USERNAME: username, ADMIN_PASSWORD: password, COOKIE_SAME_SITE, PUBLIC_URL } = values;
  const issues = {
    // Browsers store such a cookie only if it is `Secure`.
    COOKIE_SAME_SITE:
      COOKIE_SAME_SITE === 'none' && !PUBLIC_URL?.startsWith('https:') && 'none requires a PUBLIC_URL with https',
    ADMIN_USERNAME: usernameIssue(username),
    ADMIN_PASSWORD: password && passwordIssue(password, username),
  };
  for (const [name, message] of Object.entries(issues))
    if (message) context.addIssue({ code: 'custom', path: [name], message });
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
  const parsed = schema.safeParse(values);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new Error(`${path.join('.')} ${message}`);
  }
  return { ...parsed.data, DATA_DIR: resolve(parsed.data.DATA_DIR) };
}
