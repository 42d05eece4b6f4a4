import type { JobActionDriver } from '../../../core/job-drivers.ts';

/** Maximum number of retries of an action. */
const MAX_RETRIES = 5;
const MAX_RETRY_DELAY_MS = 3_600_000;
const [MIN_TIMEOUT_MS, MAX_TIMEOUT_MS] = [1000, 86_400_000];

/** Settings that the actions of every type have. */
const COMMON = {
  retry: {
    type: 'object',
    description: 'Repeats a failed action.',
    properties: {
      times: { type: 'integer', minimum: 0, maximum: MAX_RETRIES, description: 'Number of retries, at most 5.' },
      delay: {
        type: 'integer',
        minimum: 0,
        maximum: MAX_RETRY_DELAY_MS,
        description: 'Milliseconds before the first retry. Each further delay is twice as long.',
      },
    },
    required: ['times'],
    additionalProperties: false,
  },
  timeout: {
    type: 'integer',
    minimum: MIN_TIMEOUT_MS,
    maximum: MAX_TIMEOUT_MS,
    description: 'Milliseconds after which an attempt fails.',
  },
};

/** The part of `data` that names a dataset. Exactly one of the two is required. */
export interface DatasetKeys {
  alias?: string;
  datasetId?: string;
}

/** The properties of `DatasetKeys`. */
export const DATASET_PROPERTIES = {
  alias: { type: 'string', description: 'Alias of a dataset of the job.' },
  datasetId: { type: 'string', description: 'Dataset, by id, slug or natural id.' },
};

/** Principals that receive something. */
export const RECIPIENTS = { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', maxLength: 320 } };

type RequiredKeys<Data> = { [K in keyof Data]-?: object extends Pick<Data, K> ? never : K }[keyof Data];

/** The required properties, exactly as in the type of the data. It is left out if the type has none. */
type RequiredProperties<Data> = [RequiredKeys<Data>] extends [never]
  ? { required?: never }
  : { required: Record<RequiredKeys<Data>, true> };

/** A type of actions. `properties` and the type of the data have the same keys, and none of `COMMON`. */
type ActionDefinition<Data> = Omit<JobActionDriver<Data>, 'schema'> &
  RequiredProperties<Data> & {
    /** JSON Schemas of the properties of `data`. */
    properties: Record<keyof Data, object> & { [K in keyof typeof COMMON]?: never };
  };

/**
 * Defines a type of actions. The JSON Schema of its `data` has these properties and those that all actions have. It is
 * the one place where checked data gets its type.
 */
export const defineAction = <Data>({ properties, required, ...driver }: ActionDefinition<Data>): JobActionDriver =>
  ({
    ...driver,
    schema: {
      type: 'object',
      properties: { ...properties, ...COMMON },
      required: Object.keys(required ?? {}),
      additionalProperties: false,
    },
  }) as unknown as JobActionDriver;
