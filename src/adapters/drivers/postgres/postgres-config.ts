import { serverConfig } from '../server-config.ts';

/** `config` and `secrets` of a Postgres datasource. Names are cut at 63 bytes by Postgres itself. */
export const postgresConfig = serverConfig({ port: 5432, nameLength: 63 });
