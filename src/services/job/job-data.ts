import { invalid } from '../../core/input-checks.ts';
import type { JobData, JobDriver } from '../../core/job-drivers.ts';
import { MASK } from '../../core/mask.ts';
import { checkJsonSize } from '../report/report-definition.ts';
import { checkAgainstSchema } from '../resource/schema-validation.ts';

/** Returns data that fits the JSON Schema of a driver. Throws BAD_USER_INPUT naming the invalid key below `root`. */
export function checkData({ schema }: Pick<JobDriver, 'schema'>, data: JobData, root = 'data'): JobData {
  checkJsonSize(data, root);
  return checkAgainstSchema(schema, data, root);
}

/** Secrets by their path in `data`, e.g. `headers.Authorization`. */
export type JobSecrets = ReadonlyMap<string, string>;

/**
 * Returns `data` with masked secrets, and the secrets. A masked value keeps the former secret. `changedKey` is the
 * changed key that requires the secrets to be sent again, null without one.
 */
export function splitSecrets(
  patterns: readonly string[],
  data: JobData,
  former: JobSecrets,
  changedKey: string | null = null,
): { data: JobData; secrets: JobSecrets } {
  const secrets = new Map<string, string>();
  const mask = (path: string, value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    const secret = value === MASK ? former.get(path) : value;
    if (secret === undefined) throw invalid(`data.${path}`, 'has no stored value');
    if (value === MASK && changedKey !== null) throw invalid(`data.${path}`, `is required when ${changedKey} changes`);
    secrets.set(path, secret);
    return MASK;
  };
  const masked: JobData = { ...data };
  for (const pattern of patterns) {
    const [key, all] = pattern.split('.') as [string, string?];
    const value = masked[key];
    if (value === undefined) continue;
    masked[key] = all
      ? Object.fromEntries(Object.entries(value as JobData).map(([name, one]) => [name, mask(`${key}.${name}`, one)]))
      : mask(key, value);
  }
  return { data: masked, secrets };
}
