import { expect, test } from 'vitest';
import { mappingConflict } from '../../src/adapters/dataset-index/elasticsearch/mapping-conflict.ts';
import type { IndexedField } from '../../src/core/dataset-index.ts';

const FIELDS = [
  { name: 'secret', column: 'c0', type: 'string' },
  { name: 'day', column: 'c1', type: 'date' },
] as IndexedField[];
const ROW = JSON.stringify({ n: 6, c0: 'hidden', c1: '2000-13-01', x1: 'key' });

// The service stores nothing that the engine is known to refuse, so the reasons come from values of other versions.
test.each([
  [
    {
      type: 'document_parsing_exception',
      reason: "[1:20] failed to parse field [c1] of type [date] in document with id '6'",
    },
    'field "day" cannot hold "2000-13-01"',
  ],
  [
    {
      type: 'illegal_argument_exception',
      reason: 'Document contains at least one immense term in field="x1" (hidden)',
    },
    'field "day" cannot hold "2000-13-01"',
  ],
  [
    { reason: 'failed to parse', caused_by: { reason: 'failed to parse field [c1]: hidden' } },
    'field "day" cannot hold "2000-13-01"',
  ],
  [
    { type: 'strict_dynamic_mapping_exception', reason: 'hidden' },
    'row 7 was refused (strict_dynamic_mapping_exception)',
  ],
  [{ reason: 'hidden' }, 'row 7 was refused (no reason was given)'],
])('a row that the engine refuses is named by its field or number only: %o', (refusal, message) => {
  expect(mappingConflict(ROW, refusal, FIELDS)).toMatchObject({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: `search-index mapping conflict: ${message}`,
  });
});
