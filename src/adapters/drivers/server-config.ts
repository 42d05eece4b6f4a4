import { isIP } from 'node:net';
import { Ajv } from 'ajv';
import type { ClientConfig } from 'pg';
import { badInput } from '../../core/errors.ts';

/**
 * Address and credentials of a database server. `password` never appears in a message: messages of a server pass
 * `redact`.
 */
export interface ServerTarget {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
  ssl: 'disable' | 'require' | 'verify-full';
  ca?: string;
  /** Set for a server that the operator named, not a user: its address is not checked. */
  operated?: { tls: ClientConfig['ssl']; options: string };
}

/** Properties of one kind of server. */
interface ServerKind {
  /** Default port. */
  port: number;
  /** Maximum number of characters of a database's or user's name. */
  nameLength: number;
}

const configSchema = ({ port, nameLength }: ServerKind) => ({
  type: 'object',
  additionalProperties: false,
  required: ['host', 'database', 'user'],
  properties: {
    host: {
      type: 'string',
      maxLength: 253,
      pattern: '^[A-Za-z0-9._:%-]+$',
      description: 'Name or address of the server. Link-local addresses are refused.',
    },
    port: { type: 'integer', minimum: 1, maximum: 65535, default: port },
    database: { type: 'string', minLength: 1, maxLength: nameLength },
    user: {
      type: 'string',
      minLength: 1,
      maxLength: nameLength,
      description: 'A role that may read, and nothing else.',
    },
    ssl: {
      enum: ['disable', 'require', 'verify-full'],
      description:
        '`require` encrypts, `verify-full` also checks the certificate and its name. ' +
        'Default: `disable` on loopback, otherwise `require`.',
    },
    ca: {
      type: 'string',
      maxLength: 100_000,
      description: 'Certificate authorities (PEM) for `verify-full`, instead of the well-known ones.',
    },
  },
});

const secretsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: { password: { type: 'string', maxLength: 1000, writeOnly: true } },
};

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** JSON Schemas of a datasource's `config` and `secrets` for one kind of server, and their reader. */
export interface ServerConfig {
  configSchema: Record<string, unknown>;
  secretsSchema: Record<string, unknown>;
  /** Reads `config` and `secrets`. Throws BAD_USER_INPUT naming a key that violates its schema, without its value. */
  readTarget(config: unknown, secrets: unknown): ServerTarget;
}

/** Compiles the schemas only when a target is first read: each loader starts with all kinds, and reads at most one. */
export function serverConfig(kind: ServerKind): ServerConfig {
  const schema = configSchema(kind);
  let reader: ServerConfig['readTarget'] | undefined;
  const readTarget: ServerConfig['readTarget'] = (config, secrets) =>
    (reader ??= compileReader(schema, kind))(config, secrets);
  return { configSchema: schema, secretsSchema, readTarget };
}

function compileReader(schema: Record<string, unknown>, kind: ServerKind): ServerConfig['readTarget'] {
  const ajv = new Ajv({ allErrors: true });
  const validConfig = ajv.compile<Omit<ServerTarget, 'port' | 'password' | 'ssl'> & Partial<ServerTarget>>(schema);
  const validSecrets = ajv.compile<{ password?: string }>(secretsSchema);
  return (config, secrets) => {
    if (!validConfig(config)) throw badInput(ajv.errorsText(validConfig.errors, { dataVar: 'config' }));
    if (!validSecrets(secrets)) throw badInput(ajv.errorsText(validSecrets.errors, { dataVar: 'secrets' }));
    return {
      port: kind.port,
      ssl: isLoopback(config.host) ? 'disable' : 'require',
      ...config,
      password: secrets.password ?? '',
    };
  };
}

/** Returns `host:port`, for messages. */
export const addressOf = (target: ServerTarget) =>
  `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`;

/** Removes the password from a server's message, which may repeat its input. */
export const redact = (target: ServerTarget, message: string) =>
  target.password ? message.replaceAll(target.password, '***') : message;
