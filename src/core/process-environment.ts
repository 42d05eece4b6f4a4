/**
 * Sets the number of libuv threads to 16: the queries, exports and word indexes of the dataset index may occupy ten of
 * them for seconds, and file access and DNS lookups use the same pool. Must be called before the pool is first used.
 */
export function widenThreadPool(): void {
  process.env.UV_THREADPOOL_SIZE ??= '16';
}

const CHILD_VARIABLES = ['PATH', 'TMPDIR', 'LANG', 'LC_ALL', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

/** Returns the environment for child processes. It contains no secrets. */
export const childEnvironment = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => CHILD_VARIABLES.includes(name)));

/** Returns a variable of the shell in which a command of users runs. Configuration is in `src/core/config.ts`. */
export const readVariable = (name: string): string | undefined => process.env[name];
