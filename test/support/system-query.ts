import type { Service } from './service.ts';

/** Runs one statement on the database of the service, across tenants. Returns its rows. */
export const systemQuery = <R extends Record<string, unknown>>(
  { platform }: Service,
  text: string,
  ...values: unknown[]
): Promise<R[]> => platform.system.query<R>({ text, values });
