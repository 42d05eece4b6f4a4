/**
 * The lower bound of reads and writes: bare node:http and pg, Postgres renders the JSON, no authentication, no
 * validation. `/queries` is a list of 30 by name with owner and total, `/queries/<id>` one query with its owner, `/jobs`
 * and `/jobs-with-actions` a list of 30 jobs with owner and total, and with the actions of each. POST, PATCH and DELETE
 * change `raw_query` (see fill.ts), which has the columns and indexes of a saved query, but neither
 * triggers nor policies. Reads DATABASE_URL and PORT.
 */
import { createHash } from 'node:crypto';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import pg from 'pg';

pg.types.setTypeParser(pg.types.builtins.JSON, (text) => text);
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 16 });

const QUERY = `json_build_object(
    '_links', json_build_object('self', json_build_object('href', '/api/queries/' || q.id)),
    'id', q.id, 'name', q.name, 'slug', q.slug, 'description', q.description, 'datasourceId', q.datasource_id,
    'language', q.language, 'params', q.params, 'version', q.version,
    'createdAt', q.created_at, 'updatedAt', q.updated_at,
    'owner', json_build_object('id', u.id, 'name', u.display_name))`;
/** md5('bench'), see fill.ts. */
const TENANT = createHash('md5').update('bench').digest('hex');
const FROM = `dws.saved_query q join dws.app_user u on u.id = substr(q.owner_id, 6)::uuid`;
const LIST = `with
  p as (
    select ${QUERY} o, q.name
    from (select * from dws.saved_query where tenant_id = $1 order by lower(name), id limit 30) q
    join dws.app_user u on u.id = substr(q.owner_id, 6)::uuid
    order by lower(q.name), q.id),
  t as (select count(*) n from dws.saved_query where tenant_id = $1)
  select json_build_object(
    '_links', json_build_object(
      'self', json_build_object('href', '/api/queries?limit=30'),
      'next', json_build_object('href', '/api/queries?limit=30&start=30')),
    '_embedded', json_build_object('queries', (select json_agg(o) from p)),
    'start', 0, 'count', (select count(*) from p), 'total', t.n) r
  from t`;
/** Returns the statement of a list of jobs; `more` are further keys of each. */
const jobsOf = (more: string) => `with
  p as (
    select json_build_object(
      '_links', json_build_object('self', json_build_object('href', '/api/jobs/' || j.id)),
      'id', j.id, 'name', j.name, 'slug', j.slug, 'description', j.description, 'type', j.type,
      'interval', j.interval, 'intervalType', j.interval_type, 'timezone', j.timezone, 'enabled', j.enabled,
      'nextRunAt', j.next_run_at, 'version', j.version, 'createdAt', j.created_at, 'updatedAt', j.updated_at,
      'owner', json_build_object('id', u.id, 'name', u.display_name)${more}) o, j.name, j.id
    from (select * from dws.job where tenant_id = $1 and parent_id is null order by lower(name), id limit 30) j
    join dws.app_user u on u.id = substr(j.owner_id, 6)::uuid),
  t as (select count(*) n from dws.job where tenant_id = $1 and parent_id is null)
  select json_build_object(
    '_embedded', json_build_object('jobs', (select json_agg(o order by lower(name), id) from p)),
    'start', 0, 'count', (select count(*) from p), 'total', t.n) r
  from t`;
const ACTIONS = `, 'actions', (
  select json_agg(
    json_build_object('id', a.id, 'type', a.type, 'name', a.name, 'order', a.position, 'data', a.data) order by a.position)
  from dws.job_action a
  where a.job_id = j.id)`;
const LISTS: Record<string, [name: string, text: string]> = {
  '/queries': ['list', LIST],
  '/jobs': ['jobs', jobsOf('')],
  '/jobs-with-actions': ['jobs with actions', jobsOf(ACTIONS)],
};
const ONE = `select ${QUERY} r from ${FROM} where q.id = $1`;

const [CREATE, UPDATE, DELETE] = [
  `insert into raw_query (tenant_id, name, slug, datasource_id, query, owner_id) values ($1, $2, $3, $4, $5, $6)
    returning json_build_object('id', id, 'name', name) r`,
  `update raw_query set name = $2, updated_at = now() where id = $1
    returning json_build_object('id', id, 'name', name) r`,
  'delete from raw_query where id = $1',
];

/** Runs a prepared statement and returns the JSON of its row. */
const run = async (name: string, text: string, values: string[]): Promise<string> =>
  (await pool.query<{ r: string }>({ name, text, values })).rows[0]?.r ?? '';

async function responseTo(request: http.IncomingMessage): Promise<[status: number, body: string]> {
  const { url = '', method } = request;
  const id = url.slice('/queries/'.length);
  if (method === 'DELETE') return [204, await run('delete', DELETE, [id])];
  if (method === 'PATCH' || method === 'POST') {
    const { name, slug, datasourceId, query, owner } = JSON.parse(await text(request)) as Record<string, string>;
    return method === 'PATCH'
      ? [200, await run('update', UPDATE, [id, name!])]
      : [201, await run('create', CREATE, [TENANT, name!, slug!, datasourceId!, query!, owner!])];
  }
  const list = LISTS[url];
  if (list) return [200, await run(...list, [TENANT])];
  return id ? [200, await run('one', ONE, [id])] : [200, '{}'];
}

http
  .createServer((request, response) => {
    const failed = ({ message }: Error): [number, string] => [500, JSON.stringify({ message })];
    void responseTo(request)
      .catch(failed)
      .then(([status, body]) => {
        if (status === 204) return response.writeHead(204).end();
        response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
        return response.end(body);
      });
  })
  .listen(Number(process.env['PORT']), '127.0.0.1');
