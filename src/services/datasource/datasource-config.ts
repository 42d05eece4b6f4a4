import { badInput } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { Driver } from '../../core/row-source.ts';
import { fillFromSchema, fitsSchema } from '../resource/schema-validation.ts';

/** Returns the driver of a datasource type. Throws BAD_USER_INPUT for an unknown type. */
export function driverOf({ drivers }: Pick<Platform, 'drivers'>, type: string): Driver {
  const driver = drivers.get(type);
  if (!driver)
    throw badInput(`Unknown datasource type ${JSON.stringify(type)}. Known types: ${[...drivers.keys()].join(', ')}`);
  return driver;
}

/**
 * Validates a datasource's config against the driver's JSON Schema and returns it with defaults filled in.
 * Throws BAD_USER_INPUT with one validation issue per invalid path.
 */
export const validateDatasourceConfig = (driver: Driver, config: unknown): Record<string, unknown> =>
  fillFromSchema(driver.configSchema, config, 'config') as Record<string, unknown>;

/** Returns whether a config fits the driver's JSON Schema. */
export const isValidConfig = ({ configSchema }: Driver, config: unknown): boolean => fitsSchema(configSchema, config);

/** Validates a datasource's secrets like its config. Error messages contain no values. */
export const validateDatasourceSecrets = (driver: Driver, secrets: unknown): Record<string, string> =>
  fillFromSchema(driver.secretsSchema, secrets, 'secrets') as Record<string, string>;
