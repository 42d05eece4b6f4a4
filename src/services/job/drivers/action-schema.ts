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

/** Properties that name a dataset. Exactly one of them is required. */
export const DATASET_PROPERTIES = {
  alias: { type: 'string', description: 'Alias of a dataset of the job.' },
  datasetId: { type: 'string', description: 'Dataset, by id, slug or natural id.' },
};

/** Principals that receive something. */
export const RECIPIENTS = { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', maxLength: 320 } };

/** Returns the JSON Schema of an action's `data`, with the properties that all actions have. */
export const actionSchema = (
  properties: Record<string, object>,
  required: readonly string[] = [],
): Record<string, unknown> => ({
  type: 'object',
  properties: { ...properties, ...COMMON },
  required,
  additionalProperties: false,
});
