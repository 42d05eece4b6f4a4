import { Extensions } from 'type-graphql';
import { READS_ALL_ROWS } from '../../src/core/limits/measure-operation.ts';

/**
 * Declares that a field reads all rows of a dataset, which GraphQL's cost limit counts
 * (docs/contract/apis.md#graphql-limits).
 */
export const ReadsAllRows = () => Extensions({ [READS_ALL_ROWS]: true });
