import { OWNED_SEARCH } from './owned-table.ts';
import type { SearchedTable } from './searched-table.ts';

/** The tables that the search contained from its beginning. */
export const SEARCHED_TABLES: readonly SearchedTable[] = [
  { kind: 'datasource', table: 'datasource', ...OWNED_SEARCH },
  { kind: 'query', table: 'saved_query', ...OWNED_SEARCH },
  { kind: 'dataset', table: 'dataset', ...OWNED_SEARCH, but: 'r.is_draft or r.is_snapshot' },
  { kind: 'report', table: 'report', ...OWNED_SEARCH },
  { kind: 'app', table: 'app', ...OWNED_SEARCH },
  { kind: 'team', table: 'team', slug: 'r.slug', description: 'r.description' },
  { kind: 'folder', table: 'folder' },
  { kind: 'suite', table: 'suite', description: 'r.description' },
  { kind: 'tag', table: 'tag', description: 'r.description' },
  { kind: 'user', table: 'app_user', name: `coalesce(nullif(r.display_name, ''), r.username)`, slug: 'r.username' },
];

/** Han, kana and Hangul. Each character is one word. */
export const CJK =
  String.raw`\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3` +
  String.raw`\uf900-\ufaff`;
/** Letters and digits as Unicode ranges, since the classes of Postgres depend on the database's locale. */
export const LETTERS =
  String.raw`0-9a-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\u3005` +
  String.raw`\u3007${CJK}\ua000-\uabff\ufb00-\ufdff\ufe70-\ufefc\U00010000-\U0001efff\U00020000-\U0003ffff`;
