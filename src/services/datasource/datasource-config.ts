import { Ajv } from 'ajv';
import { badInput } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import type { Driver } from '../../core/row-source.ts';
import { schemaError } from '../resource/schema-validation.ts';

const ajv = new Ajv({ allErrors: true, useDefaults: true });

/** The driver of a datasource's type; an unknown type is 400 and named. */
export function driverOf({ drivers }: Pick<Platform, 'drivers'>, type: string): Driver {
  const driver = drivers.get(type);
  if (!driver)
    throw badInput(`There is no datasource type ${JSON.stringify(type)}; known are ${[...drivers.keys()].join(', ')}`);
  return driver;
}

/** A connection's config as it is kept: checked against the driver's JSON Schema, its defaults filled in. 400 naming the path of what does not fit. */
export const checkedConfig = (driver: Driver, config: unknown): Record<string, unknown> =>
  checked(driver.configSchema, config, 'config') as Record<string, unknown>;

/** The same for secrets. No message holds a value. */
export const checkedSecrets = (driver: Driver, secrets: unknown): Record<string, string> =>
  checked(driver.secretsSchema, secrets, 'secrets') as Record<string, string>;

function checked(schema: Record<string, unknown>, given: unknown, root: string): unknown {
  // Defaults are filled into what is checked, and the caller's object is not ours to change. (Ajv keeps what it compiled by the schema's identity.)
  const value = structuredClone(given);
  const valid = ajv.compile(schema);
  if (valid(value)) return value;
  throw schemaError(valid.errors!, root);
}
