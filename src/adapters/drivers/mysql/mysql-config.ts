import { serverConfig } from '../server-config.ts';

/** `config` and `secrets` of a MySQL or MariaDB datasource. The longest names are user names of MariaDB. */
export const mysqlConfig = serverConfig({ port: 3306, nameLength: 128 });
