/** JSON Schema of a job's `data`. It is the same for all types of jobs so far. */
export const JOB_SCHEMA = {
  type: 'object',
  properties: {
    overlap: {
      enum: ['skip', 'queue'],
      description: 'Whether a scheduled run is skipped while the job runs (default), or waits.',
    },
    notifyOnFailure: {
      type: 'boolean',
      description: 'Whether the owner is notified of the first failed run after a successful one. Default: true.',
    },
  },
  additionalProperties: false,
};
