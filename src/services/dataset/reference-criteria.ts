import type { ReferenceFilter } from '../../../entities/dataset-reference.ts';

/** Converts a reference's filter to criteria of the dataset. Returns `{}` for all rows. */
export const referenceCriteria = ({ criteria = [] }: ReferenceFilter): Record<string, unknown> =>
  criteria.length === 0
    ? {}
    : { $and: criteria.map(({ field, op, value }) => ({ [field]: { [`$${op.replace(/^\$/, '')}`]: value } })) };
