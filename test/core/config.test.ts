import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/core/config.ts';

/** Malformed values by variable, and what the sentence says after the name of the variable. */
const MALFORMED: Record<string, [message: string, ...values: string[]]> = {
  HOST: ['must be an IP address or a host name', ' ', 'two words', 'http://localhost', '::zz'],
  PORT: ['must be a whole number from 0 to 65535', 'soon', '-1', '65536', '80.5', '0x50', ' ', '1e3', 'Infinity'],
  DATABASE_URL: ['must be a URL that starts with postgres:// or postgresql://', 'localhost', 'mysql://h/db', 'x y'],
  APPS_DATABASE_URL: ['must be a URL that starts with postgres:// or postgresql://', 'localhost', 'mysql://h/db'],
  ELASTICSEARCH_URL: ['must be a URL that starts with http:// or https://', 'localhost:9200', 'ftp://h', 'http://'],
  APP_SECRET: ['must have at least 32 characters', 'short', 'x'.repeat(31), `new,${'x'.repeat(40)}`, ',', ' '],
  ADMIN_USERNAME: [
    'must match ^[A-Za-z0-9][A-Za-z0-9_.@-]*$, have at most 100 characters and not have the form of a UUID',
    'two words',
    '-x',
    'x'.repeat(101),
    '01900000-0000-7000-8000-00000000000a',
  ],
  ADMIN_PASSWORD: ['must have at least 12 characters', 'short'],
  SEED_DEMO: ['must be true, false, 1 or 0', 'yes', 'TRUE'],
  ROLE: ['must be all, web or worker', 'boss'],
  WORKER_CONCURRENCY: ['must be a whole number from 1 to 1000', '0', 'many', '2.5', '1001'],
  PUBLIC_URL: ['must be a URL that starts with http:// or https://', 'data.example.com', 'javascript://x'],
  TRUST_PROXY: [
    'must list IP addresses, CIDR ranges, loopback, linklocal or uniquelocal, separated by commas',
    'true',
    '10.0.0.0/33',
    '10.0.0.1,proxy.example.com',
    '1',
  ],
  CORS_ORIGINS: [
    'must list origins like https://app.example.com, separated by commas',
    '*',
    'null',
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com,https://b.example.com/path',
  ],
  COOKIE_SAME_SITE: ['must be lax or none', 'strict', 'None'],
  REDIRECT_HOSTS: [
    'must list host names and IP addresses, separated by commas',
    'https://pay.example.com',
    '*',
    'a:80',
  ],
  OUTBOUND_ALLOW: [
    'must list host names, IP addresses and CIDR ranges, separated by commas',
    '*',
    'https://idp.example.com',
    'idp.example.com:8080',
    '10.0.0.0/33',
    '::/129',
    '300.1.1.1',
    '10.1',
    '0x7f000001',
    'idp.example.com,10.0.0.0/',
    '-x',
  ],
  SMTP_URL: ['must be a URL that starts with smtp:// or smtps://', 'mail.example.com', 'http://mail', 'smtp://'],
  MAIL_FROM: ['must be an address, like Data Workspace <workspace@example.com>', 'nobody', 'a b@c', '<a@b'],
  CHROMIUM_PATH: ['must be an absolute path', 'chromium', './chromium', ' '],
  SANDBOX_PROCESSES: ['must be a whole number from 1 to 64', '0', '65', 'many', '1.5'],
  QUERY_TIMEOUT_MS: ['must be a whole number from 1 to 2147483647', '0', '-5', '1s', '2147483648'],
  REFRESH_TIMEOUT_MS: ['must be a whole number from 1 to 2147483647', '0', 'hour'],
  MAX_UPLOAD_BYTES: ['must be a whole number from 0 to 9007199254740991', '-1', '100MB', '9007199254740993'],
  MAX_DATASET_ROWS: ['must be a whole number from 0 to 9007199254740991', 'all'],
  APP_QUOTA_BYTES: ['must be a whole number from 0 to 9007199254740991', '1GB', '-1'],
  APPS_MEMORY_BYTES: ['must be a whole number from 0 to 9007199254740991', '1G', '0.5'],
  RESERVED_DISK_BYTES: ['must be a whole number from 0 to 9007199254740991', '2GB'],
  TENANT_DATABASE_BYTES: ['must be a whole number from 0 to 9007199254740991', '5GB'],
  TENANT_QUOTA_BYTES: ['must be a whole number from 0 to 9007199254740991', '1e9'],
  RATE_LIMIT_API: ['must be a whole number from 0 to 9007199254740991', 'off'],
  RATE_LIMIT_LOGIN: ['must be a whole number from 0 to 9007199254740991', 'off'],
  RATE_LIMIT_WEBHOOK: ['must be a whole number from 0 to 9007199254740991', 'off'],
  LICENSE_MANAGER_URL: [
    'must be a URL that starts with http:// or https://',
    'licenses.example.com',
    'ftp://licenses.example.com',
  ],
  CREDITS_INCLUDED: ['must be a whole number from 0 to 999999999', '-1', '1.5', 'many', '1000000000'],
  AUDIT_ROW_READS: ['must be true, false, 1 or 0', 'all'],
  PUBLIC_SCHEMA: ['must be true, false, 1 or 0', 'no'],
  METRICS_TOKEN: ['must consist of ASCII characters, without blanks around them', ' x', 'é', 'a\nb'],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'must be a URL that starts with http:// or https://',
    'collector:4318',
    'grpc://h',
    'http://',
  ],
  OTEL_SERVICE_NAME: ['must have at most 255 characters, without line breaks', 'x'.repeat(256), 'a\nb'],
  DOCUMENTS_MODE: ['must be OFF, LOG, WARN or ENFORCE', 'off', 'ALL'],
  LOG_LEVEL: ['must be fatal, error, warn, info, debug, trace or silent', 'loud', 'INFO'],
};

describe('a malformed value', () => {
  for (const [name, [message, ...values]] of Object.entries(MALFORMED))
    test(`of ${name} is an error of one sentence that names it`, () => {
      for (const value of values)
        expect(() => readConfig({ [name]: value }), value).toThrow(new Error(`${name} ${message}`));
    });

  test('is tested for every variable with a form; DATA_DIR is checked when it is opened', () => {
    expect([...Object.keys(MALFORMED), 'DATA_DIR'].toSorted()).toEqual(Object.keys(readConfig(GOOD)).toSorted());
  });

  test('of the license manager includes what its URL must not have', () => {
    for (const url of ['http://user@lm.example', 'http://lm.example/?a=b', 'http://lm.example/#a'])
      expect(() => readConfig({ LICENSE_MANAGER_URL: url }), url).toThrow(
        'LICENSE_MANAGER_URL must be a URL without username, password, query and fragment',
      );
  });

  test('of the password includes the rules of all users', () => {
    expect(() => readConfig({ ADMIN_PASSWORD: 'x'.repeat(1025) })).toThrow(
      'ADMIN_PASSWORD must have at most 1024 characters',
    );
    expect(() => readConfig({ ADMIN_USERNAME: 'administrator', ADMIN_PASSWORD: 'Administrator' })).toThrow(
      'ADMIN_PASSWORD must not be the username',
    );
  });
});

describe('the table of variables in docs/configuration.md', () => {
  /** Meanings of defaults in the table that are not the value itself. */
  const DEFAULTS: Record<string, unknown> = {
    unset: undefined,
    'generated into `DATA_DIR`': undefined,
    generated: undefined,
    '`true` with the embedded Postgres': undefined,
    '`http://HOST:PORT`': undefined,
    '`no-reply@` and the host of `PUBLIC_URL`': undefined,
    '100 MB': 100_000_000,
    '1 GB': 1_000_000_000,
    '2 GB': 2_000_000_000,
    '5 GB': 5_000_000_000,
    'a quarter of the memory': String(Math.floor(Math.min(process.constrainedMemory() || Infinity, totalmem()) / 4)),
    '`.data`': resolve('.data'),
  };
  const rows = [
    ...readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| (`[A-Z][A-Z_`, ]+) \| ([^|]+) \|/gm),
  ].flatMap(([, names, defaults]) => {
    const texts = defaults!.split(', ');
    return names!.split(', ').map((name, n) => ({ name: name.replaceAll('`', ''), text: texts[n] ?? texts[0]! }));
  });

  test('has every variable, once, and no other', () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual([...Object.keys(MALFORMED), 'DATA_DIR'].toSorted());
  });

  test('has their defaults', () => {
    const names = rows.map(({ name }) => name);
    const config = readConfig(Object.fromEntries(names.map((name) => [name, '']))) as Record<string, unknown>;
    for (const { name, text } of rows) {
      const value = Array.isArray(config[name]) && config[name].length === 0 ? undefined : config[name];
      const expected = text in DEFAULTS ? DEFAULTS[text] : text.replaceAll('`', '');
      expect(value === undefined || typeof expected !== 'string' ? value : String(value), name).toBe(expected);
    }
  });
});

const SECRET = 'x'.repeat(32);
const GOOD = {
  HOST: '::1',
  PORT: '80',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com:4318/base',
  DATABASE_URL: 'postgres:///dws?host=/run/postgresql',
  APPS_DATABASE_URL: 'postgres://apps.example.com/apps',
  ELASTICSEARCH_URL: 'https://user:password@host:9200',
  APP_SECRET: `${SECRET},short`,
  ADMIN_PASSWORD: 'correct horse battery',
  SEED_DEMO: '0',
  PUBLIC_URL: 'https://data.example.com/',
  TRUST_PROXY: ' 10.0.0.0/8, ::1 ,fd00::/8,loopback',
  CORS_ORIGINS: 'https://app.example.com, http://localhost:5173,capacitor://localhost',
  LICENSE_MANAGER_URL: 'https://licenses.example.com/v1',
  OUTBOUND_ALLOW: 'idp.corp.example, localhost,10.0.0.0/8 ,::1,fd00::/8',
  SMTP_URL: 'smtps://user:password@mail.example.com',
  MAIL_FROM: 'Workspace <workspace@example.com>',
  CHROMIUM_PATH: '/usr/bin/chromium',
  METRICS_TOKEN: 'measure me',
};

test('well-formed values are parsed', () => {
  expect(readConfig(GOOD)).toMatchObject({
    HOST: '::1',
    PORT: 80,
    APP_SECRET: `${SECRET},short`,
    SEED_DEMO: false,
    TRUST_PROXY: ['10.0.0.0/8', '::1', 'fd00::/8', 'loopback'],
    CORS_ORIGINS: ['https://app.example.com', 'http://localhost:5173', 'capacitor://localhost'],
    OUTBOUND_ALLOW: ['idp.corp.example', 'localhost', '10.0.0.0/8', '::1', 'fd00::/8'],
    CHROMIUM_PATH: '/usr/bin/chromium',
    METRICS_TOKEN: 'measure me',
  });
  for (const HOST of ['0.0.0.0', 'localhost', 'data.example.com']) expect(readConfig({ HOST }).HOST).toBe(HOST);
});

test('a cookie for other sites requires https', () => {
  for (const PUBLIC_URL of ['', 'http://data.example.com'])
    expect(() => readConfig({ COOKIE_SAME_SITE: 'none', PUBLIC_URL })).toThrow(
      'COOKIE_SAME_SITE none requires a PUBLIC_URL with https',
    );
  const PUBLIC_URL = 'https://data.example.com';
  expect(readConfig({ COOKIE_SAME_SITE: 'none', PUBLIC_URL }).COOKIE_SAME_SITE).toBe('none');
});

test('an empty value counts as unset', () => {
  expect(readConfig({ PORT: '', APP_SECRET: '', TRUST_PROXY: '' })).toMatchObject({ PORT: 4000, TRUST_PROXY: [] });
});
