/** JSON Schema of a job's `data`. It is the same for all types of jobs so far. */
export const JOB_SCHEMA = {
  type: 'object',
  properties: {
    overlap: {
      enum: ['skip', 'queue'],
      description: 'What happens to a scheduled run while the job runs: it is skipped (default), or waits.',
    },
    notifyOnFailure: {
      type: 'boolean',
      description: 'Whether the owner is notified of the first failed run after a successful one. Default: true.',
    },
  },
  additionalProperties: false,
};
