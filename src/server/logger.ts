import pino, { type DestinationStream, type Logger } from 'pino';

/** Names of properties that are never logged. */
const SECRET_NAMES = [
  'password',
  'currentPassword',
  'token',
  'secret',
  'secrets',
  'authorization',
  'cookie',
  'set-cookie',
  'connectionString',
  'databaseUrl',
];

/** Creates the logger. It writes JSON lines, with secrets removed, to standard output or `destination`. */
export const createLogger = (level: string, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      redact: {
        paths: SECRET_NAMES.flatMap((name) =>
          name.includes('-') ? [`*["${name}"]`] : [name, `*.${name}`, `*.*.${name}`],
        ),
        censor: '••••',
      },
      serializers: { err: pino.stdSerializers.err },
    },
    destination,
  );
