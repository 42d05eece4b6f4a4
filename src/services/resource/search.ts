import { Folder } from '../../../entities/folder.ts';
import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import { Suite } from '../../../entities/suite.ts';
import { Tag } from '../../../entities/tag.ts';
import { Team } from '../../../entities/team.ts';
import { User } from '../../../entities/user.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/input-checks.ts';
import { numbered } from '../../core/read/condition.ts';
import { DEFAULT_LIMIT, limitOf, startOf } from '../../core/read/list-arguments.ts';
import type { EntityType } from '../../core/read/reader.ts';
import { parseSearchWords } from '../../core/search-words.ts';
import { readable } from './access-filter.ts';

/** What can be found, by the word of its kind: all that people own, and what everybody in the tenant may read. */
export const SEARCHABLE_TYPES: Readonly<Record<string, EntityType>> = {
  ...Object.fromEntries(OWNED_KINDS.map(({ kind, entity }) => [kind, entity as EntityType])),
  team: Team,
  folder: Folder,
  suite: Suite,
  tag: Tag,
  user: User,
};

/** Something that was found. `score` is 1 for a name that is `q`, 0.8 for one that begins so, 0.6 where all words are in the name, 0.4 elsewhere, 0.2 where only similar words are. */
export interface SearchRow extends Record<string, unknown> {
  kind: string;
  id: string;
  name: string;
  slug: string | null;
  description: string | null;
  /** A principal; null for what nobody owns. */
  ownerId: string | null;
  /** ISO 8601, UTC. */
  updatedAt: string;
  score: number;
}

export interface SearchArguments {
  q: string;
  kinds?: readonly string[] | null;
  /** 1 to 1000, 30 by default. */
  limit?: number | null;
  start?: number | null;
}

const MAX_QUERY_CHARACTERS = 500;

/** What the viewer may read and that holds all words of `q`, the best first: one statement. 400 when `q` holds no word. */
export async function search(
  { query, viewer }: Context,
  { q, kinds, limit, start }: SearchArguments,
): Promise<{ items: SearchRow[]; start: number; count: number; total: number }> {
  if (q.length > MAX_QUERY_CHARACTERS || q.includes('\0'))
    throw invalid('q', `must have at most ${MAX_QUERY_CHARACTERS} characters and no zero byte`);
  if (parseSearchWords(q).length === 0) throw invalid('q', 'must hold a word');
  const wanted = kinds ?? Object.keys(SEARCHABLE_TYPES);
  const rule = readable(viewer);
  const allowed = rule ? ` and (r.owner_id is null or ${numbered(rule, 4)})` : '';
  const from = startOf(start);
  const most = limitOf(limit, DEFAULT_LIMIT);
  const matches = `from dws.search_matches($2) r where r.kind = any($3)${allowed}`;
  const values = [viewer.tenantId, q, wanted, ...(rule?.params ?? [])];

  // All that matches has to be ranked anyhow, so counting it costs next to nothing.
  const rows = await query<SearchRow & { total?: number }>({
    text: `select p.kind, p.id, e.name, e.slug, e.description, p.owner_id as "ownerId", p.score, to_char(e.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt", p.total
      from (select r.*, count(*) over ()::int as total ${matches} order by r.score desc, r.folded, r.id limit ${most} offset $${values.length + 1}) p
      join dws.search_entry e on e.tenant_id = $1 and e.kind = p.kind and e.id = p.id order by p.score desc, p.folded, p.id`,
    values: [...values, from],
  });
  const total =
    rows[0]?.total ??
    (from > 0
      ? (
          await query<{ total: number }>({
            text: `select count(*)::int as total ${matches} and $1::uuid is not null`,
            values,
          })
        )[0]!.total
      : 0);
  return { items: rows, start: from, count: rows.length, total };
}
