import { SEARCHABLE_TYPES, type SearchHit } from '../../../entities/search-hit.ts';
import type { Context } from '../../core/context.ts';
import type { SqlRow } from '../../core/database.ts';
import { invalid } from '../../core/input-checks.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { checkLimit, checkStart, DEFAULT_LIMIT } from '../../core/read/list-arguments.ts';
import { SqlParameters } from '../../core/read/sql-parameters.ts';
import { parseSearchWords } from '../../core/search-words.ts';
import { readable, readableThrough } from './access-filter.ts';

interface SearchArguments {
  q: string;
  kinds?: readonly string[] | null;
  /** 1 to 1000, 30 by default. */
  limit?: number | null;
  start?: number | null;
}

const MAX_QUERY_CHARACTERS = 500;

/** Filters the files of libraries that the viewer may read. Their entries have the owner of the library. */
const fileAccess: AccessFilter = (viewer) => {
  const filter = readableThrough('library', 'library_id')(viewer);
  return (
    filter && {
      sql: `exists (select from dws.library_file f where f.tenant_id = ? and f.id = r.id and ${filter.sql.replace('r.', 'f.')})`,
      params: [viewer.tenantId, ...filter.params],
    }
  );
};

/**
 * Returns the resources that the viewer may read and that contain all words of `q`, by descending score
 * (docs/contract/resources.md#search). Throws BAD_USER_INPUT if `q` contains no word.
 */
export async function search(
  { query, viewer }: Context,
  { q, kinds, limit, start }: SearchArguments,
): Promise<{ items: SearchHit[]; start: number; count: number; total: number; hasNextPage: boolean }> {
  if (q.length > MAX_QUERY_CHARACTERS || q.includes('\0'))
    throw invalid('q', `must have at most ${MAX_QUERY_CHARACTERS} characters and no zero byte`);
  if (parseSearchWords(q).length === 0) throw invalid('q', 'must contain a word');
  const access = readable(viewer);
  const sql = new SqlParameters();
  const tenant = sql.bind(viewer.tenantId);
  const searched = `dws.search_matches(${sql.bind(q)}) r`;
  const ofKinds = `r.kind = any(${sql.bind(kinds ?? Object.keys(SEARCHABLE_TYPES))})`;
  const readableOnly = access
    ? `and (r.owner_id is null or (${sql.bindCondition(access).text})
        or r.kind = 'library-file' and (${sql.bindCondition(fileAccess(viewer)!).text}))`
    : '';
  const matches = `from ${searched} where ${ofKinds} ${readableOnly}`;
  const countValues = [...sql.values];
  const first = checkStart(start);

  // Ranking requires all matches, so that counting them costs almost nothing.
  const rows = await query<SearchHit & { total?: number } & SqlRow>({
    text: `
      select p.kind, p.id, f.library_id as "libraryId", e.name, e.slug, e.description, p.owner_id as "ownerId", p.score,
        to_char(e.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt", p.total
      from (
        select r.*, count(*) over ()::int as total
        ${matches}
        order by r.score desc, r.folded, r.id
        limit ${checkLimit(limit, DEFAULT_LIMIT)} offset ${sql.bind(first)}
      ) p
      join dws.search_entry e on e.tenant_id = ${tenant} and e.kind = p.kind and e.id = p.id
      left join dws.library_file f on p.kind = 'library-file' and f.tenant_id = ${tenant} and f.id = p.id
      order by p.score desc, p.folded, p.id`,
    values: sql.values,
  });
  const countMatches = async (): Promise<number> => {
    const text = `select count(*)::int as total ${matches} and ${tenant}::uuid is not null`;
    return (await query<{ total: number }>({ text, values: countValues }))[0]!.total;
  };
  // A page after the last match has no row with the total.
  const total = rows[0]?.total ?? (first > 0 ? await countMatches() : 0);
  return { items: rows, start: first, count: rows.length, total, hasNextPage: first + rows.length < total };
}
