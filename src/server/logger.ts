import pino, { type DestinationStream, type Logger } from 'pino';

/** What never stands in the log, wherever it comes up. */
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

/** The log: JSON lines on standard output or `destination`, secrets removed. */
export const createLogger = (level: string, destination?: DestinationStream): Logger =>
  pino(
    {
      level,
      redact: {
        paths: SECRET_NAMES.flatMap((name) => (name.includes('-') ? [`*["${name}"]`] : [name, `*.${name}`, `*.*.${name}`])),
        censor: '••••',
      },
      serializers: { err: pino.stdSerializers.err },
    },
    destination,
  );
