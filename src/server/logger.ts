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

/**
 * Returns where the service logs: on a terminal a stream that prints readable lines, otherwise undefined, which is JSON
 * on standard output.
 */
export async function openLogStream(): Promise<DestinationStream | undefined> {
  if (!process.stdout.isTTY) return undefined;
  const { default: createPrettyStream } = await import('pino-pretty');
  // `sync` keeps the order among the lines that the service prints itself.
  return createPrettyStream({ sync: true, singleLine: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss' });
}

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
