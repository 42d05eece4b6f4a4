import { VISIBLE_FIELDS } from './twin-source.ts';

/** Filters with every operator, especially those that hidden rows or values would match. */
export const FILTERS: readonly object[] = [
  {},
  { region: 'EU' },
  { region: null },
  { region: { $ne: 'EU' } },
  { region: { $nin: ['EU', 'US'] } },
  { region: { $regex: '.' } },
  { region: { $regex: '^QZX', $options: 'i' } },
  { region: { $in: ['qzx-xanadu', null] } },
  { $not: { region: 'EU' } },
  { $not: { $not: { units: 3 } } },
  { $or: [{ region: 'EU' }, { units: { $gt: 3 } }] },
  { $or: [{}, { region: 'EU' }] },
  { $or: [] },
  { $and: [] },
  { $not: {} },
  { $not: { $or: [] } },
  { amount: { $gte: 700_000 } },
  { amount: { $lt: 0 } },
  { amount: 102.5 },
  { id: { $gt: 40_000 } },
  { id: { $lt: 0 } },
  { id: { $nin: [1000] } },
  { units: 777_001 },
  { units: { $not: { $gt: 3 } } },
  { note: { $regex: 'qzx' } },
  { note: { $regex: 'Zo' } },
  { note: { $exists: true } },
  { ok: { $exists: false } },
  { ok: true },
  { extra: { $exists: true } },
  { day: { $lt: '1900-01-01' } },
  { day: '2001-02-03' },
  { day: { $gt: '2900-01-01' } },
  { at: { $lt: '1900-01-01T00:00:00.000Z' } },
  { at: { $gte: '2001-01-03' } },
];

/** Search words of visible rows, of hidden rows, of hidden fields of visible rows, and of no row. */
export const WORDS: readonly string[] = [
  'rush',
  'zoe deliv',
  'ZOË',
  'zoe 5',
  'eu',
  'apac',
  'qzxzebra',
  'qzx',
  'xanadu',
  'amethyst',
  'bergamot',
  'west',
  'open',
  'shut',
  '777001',
  '9999',
  '…',
];

const SORTABLE = VISIBLE_FIELDS.filter((field) => field !== 'extra');

/** Sort orders: every visible field in both directions, and combinations. */
export const SORTS: readonly string[] = [
  ...SORTABLE.flatMap((field) => [field, `-${field}`]),
  'region,-id',
  '-units,ok,day',
  'ok,-note',
];

/** Aggregations with all functions, all intervals, filters, search words, sort orders and limits. */
export const AGGREGATIONS: readonly object[] = [
  { measures: [{ fn: 'count', as: 'n' }] },
  ...['count', 'min', 'max', 'countDistinct'].map((fn) => ({
    measures: SORTABLE.map((field) => ({ fn, field, as: `of ${field}` })),
  })),
  {
    groupBy: [{ field: 'region' }],
    measures: ['sum', 'avg', 'min', 'max', 'count', 'countDistinct'].map((fn) => ({ fn, field: 'amount', as: fn })),
    sort: '-sum',
  },
  ...SORTABLE.map((field) => ({
    groupBy: [{ field }],
    measures: [
      { fn: 'count', as: 'n' },
      { fn: 'max', field: 'units', as: 'most' },
    ],
    sort: `-n,${field}`,
    limit: 7,
  })),
  ...['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].map((interval) => ({
    groupBy: [{ field: 'at', interval, timezone: 'Pacific/Kiritimati' }],
    measures: [{ fn: 'sum', field: 'units', as: 'sum' }],
    sort: '-at',
    limit: 100,
  })),
  ...['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'].map((interval) => ({
    groupBy: [{ field: 'at', interval, timezone: 'Pacific/Niue' }],
    measures: [{ fn: 'sum', field: 'units', as: 'sum' }],
    sort: '-at',
    limit: 100,
  })),
  { groupBy: [{ field: 'day', interval: 'year' }, { field: 'region' }], measures: [] },
  { groupBy: [{ field: 'region' }, { field: 'ok' }], measures: [{ fn: 'avg', field: 'units', as: 'avg' }], q: 'zoe' },
  { groupBy: [{ field: 'region' }], measures: [{ fn: 'count', as: 'n' }], q: 'qzxzebra' },
  {
    groupBy: [{ field: 'units' }],
    measures: [{ fn: 'count', as: 'n' }],
    filter: { region: { $ne: 'EU' } },
    sort: 'n,units',
  },
];

export const encodeFilter = (filter: unknown): string =>
  encodeURIComponent(typeof filter === 'string' ? filter : JSON.stringify(filter));
