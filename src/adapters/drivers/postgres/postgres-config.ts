import { serverConfig } from '../server-config.ts';

/** `config` and `secrets` of a Postgres datasource. Postgres cuts names at 63 bytes. */
export const postgresConfig = serverConfig({ port: 5432, nameLength: 63 });
