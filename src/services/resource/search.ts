import { SEARCHABLE_TYPES, type SearchHit } from '../../../entities/search-hit.ts';
import type { Context } from '../../core/context.ts';
import type { SqlRow } from '../../core/database.ts';
import { invalid } from '../../core/input-checks.ts';
import { DEFAULT_LIMIT, checkLimit, checkStart } from '../../core/read/list-arguments.ts';
import { SqlParameters } from '../../core/read/sql-parameters.ts';
import { parseSearchWords } from '../../core/search-words.ts';
import { readable } from './access-filter.ts';

interface SearchArguments {
  q: string;
  kinds?: readonly string[] | null;
  /** 1 to 1000, 30 by default. */
  limit?: number | null;
  start?: number | null;
}

const MAX_QUERY_CHARACTERS = 500;

/**
 * Returns the resources that the viewer may read and that contain all words of `q`, by descending score
 * (docs/contract.md#search). Throws BAD_USER_INPUT if `q` contains no word.
 */
export async function search(
  { query, viewer }: Context,
  { q, kinds, limit, start }: SearchArguments,
): Promise<{ items: SearchHit[]; start: number; count: number; total: number }> {
  if (q.length > MAX_QUERY_CHARACTERS || q.includes('\0'))
    throw invalid('q', `must have at most ${MAX_QUERY_CHARACTERS} characters and no zero byte`);
  if (parseSearchWords(q).length === 0) throw invalid('q', 'must contain a word');
  const wanted = kinds ?? Object.keys(SEARCHABLE_TYPES);
  const access = readable(viewer);
  const from = checkStart(start);
  const most = checkLimit(limit, DEFAULT_LIMIT);
  const sql = new SqlParameters();
  const tenant = sql.bind(viewer.tenantId);
  const searched = `from dws.search_matches(${sql.bind(q)}) r where r.kind = any(${sql.bind(wanted)})`;
  const readableOnly = access ? `and (r.owner_id is null or (${sql.bindCondition(access).text}))` : '';
  const matches = `${searched} ${readableOnly}`;
  const countValues = [...sql.values];
  const offset = sql.bind(from);

  // Ranking requires all matches, so that counting them costs almost nothing.
  const rows = await query<SearchHit & { total?: number } & SqlRow>({
    text: `select p.kind, p.id, e.name, e.slug, e.description, p.owner_id as "ownerId", p.score,
        to_char(e.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt", p.total
      from (select r.*, count(*) over ()::int as total ${matches}
        order by r.score desc, r.folded, r.id
        limit ${most} offset ${offset}) p
      join dws.search_entry e on e.tenant_id = ${tenant} and e.kind = p.kind and e.id = p.id
      order by p.score desc, p.folded, p.id`,
    values: sql.values,
  });
  const countMatches = async (): Promise<number> => {
    const text = `select count(*)::int as total ${matches} and ${tenant}::uuid is not null`;
    return (await query<{ total: number }>({ text, values: countValues }))[0]!.total;
  };
  // A page after the last match has no row with the total.
  const total = rows[0]?.total ?? (from > 0 ? await countMatches() : 0);
  return { items: rows, start: from, count: rows.length, total };
}
