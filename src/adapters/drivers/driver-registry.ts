import type { AppWorkspaces } from '../../core/app-workspace.ts';
import { badInput } from '../../core/errors.ts';
import type { Driver } from '../../core/row-source.ts';
import { createAppDriver } from './app/app-driver.ts';
import { fileDriver } from './file/file-driver.ts';
import { createMysqlDriver } from './mysql/mysql-driver.ts';
import { createPostgresDriver } from './postgres/postgres-driver.ts';
import type { DatabaseIdentity } from './source-guard.ts';
import { sqliteDriver } from './sqlite/sqlite-driver.ts';

export interface DriverOptions {
  /**
   * The service's own database, which is refused as a datasource. Null only when it is unknown (no privilege for
   * `pg_control_system`).
   */
  ownDatabase: DatabaseIdentity | null;
  /** Where the workspaces of apps are. Absent in a process that opens only sources that another one has located. */
  workspaces?: Pick<AppWorkspaces, 'locate' | 'watch'>;
}

export interface Drivers {
  /** By `Driver.id`, the `type` of a datasource. */
  drivers: ReadonlyMap<string, Driver>;
  /** Returns the driver of a datasource's type. Throws BAD_USER_INPUT naming an unknown type. */
  driverOf(type: string): Driver;
}

/** Creates all drivers. */
export function createDrivers(options: DriverOptions): Drivers {
  const all: Driver[] = [
    createPostgresDriver(options.ownDatabase),
    createMysqlDriver(),
    sqliteDriver,
    fileDriver,
    createAppDriver(options.workspaces),
  ];
  const drivers = new Map(all.map((driver) => [driver.id, driver]));
  const driverOf = (type: string) => {
    const driver = drivers.get(type);
    if (!driver)
      throw badInput(
        `There is no datasource type ${JSON.stringify(type)}; known are ${[...drivers.keys()].join(', ')}`,
      );
    return driver;
  };
  return { drivers, driverOf };
}
