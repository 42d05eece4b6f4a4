import { isIP } from 'node:net';
import { Ajv } from 'ajv';
import { badInput } from '../../../core/errors.ts';

/** JSON Schema of a Postgres datasource's `config`. */
export const configSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['host', 'database', 'user'],
  properties: {
    host: { type: 'string', maxLength: 253, pattern: '^[A-Za-z0-9._:%-]+$', description: 'Name or address of the server. Link-local addresses are refused.' },
    port: { type: 'integer', minimum: 1, maximum: 65535, default: 5432 },
    database: { type: 'string', minLength: 1, maxLength: 63 },
    user: { type: 'string', minLength: 1, maxLength: 63, description: 'A role that may read, and nothing else.' },
    ssl: {
      enum: ['disable', 'require', 'verify-full'],
      description: '`require` encrypts, `verify-full` also checks the certificate and the name in it. Default: `disable` on loopback, elsewhere `require`.',
    },
    ca: { type: 'string', maxLength: 100_000, description: 'Certificate authorities (PEM) for `verify-full`, instead of the well-known ones.' },
  },
};

/** JSON Schema of its `secrets`. */
export const secretsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: { password: { type: 'string', maxLength: 1000, writeOnly: true } },
};

/** Where and how to connect. `password` is in no message: what a server says goes through `redact` first. */
export interface PostgresTarget {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
  ssl: 'disable' | 'require' | 'verify-full';
  ca?: string;
}

const ajv = new Ajv({ allErrors: true });
const validConfig = ajv.compile<Omit<PostgresTarget, 'port' | 'password' | 'ssl'> & Partial<PostgresTarget>>(configSchema);
const validSecrets = ajv.compile<{ password?: string }>(secretsSchema);

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** Reads a datasource's `config` and `secrets`; what breaks their schemas is 400 and named, without its value. */
export function readTarget(config: unknown, secrets: unknown): PostgresTarget {
  if (!validConfig(config)) throw badInput(ajv.errorsText(validConfig.errors, { dataVar: 'config' }));
  if (!validSecrets(secrets)) throw badInput(ajv.errorsText(validSecrets.errors, { dataVar: 'secrets' }));
  return { port: 5432, ssl: isLoopback(config.host) ? 'disable' : 'require', ...config, password: secrets.password ?? '' };
}

/** `host:port`, for messages. */
export const addressOf = (target: PostgresTarget) => `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;

/** A server is free to repeat what it was sent, so its words are cleaned of the password. */
export const redact = (target: PostgresTarget, message: string) => (target.password ? message.replaceAll(target.password, '***') : message);
