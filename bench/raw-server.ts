/**
 * The lower bound of a read: bare node:http and pg, Postgres renders the JSON, no authentication, no validation.
 * `/queries` is a list of 30 by name with owner and total, `/queries/<id>` one query with its owner. Reads
 * DATABASE_URL and PORT.
 */
import { createHash } from 'node:crypto';
import http from 'node:http';
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
const ONE = `select ${QUERY} r from ${FROM} where q.id = $1`;

const answer = async (name: string, text: string, values: string[]): Promise<string> =>
  (await pool.query<{ r: string }>({ name, text, values })).rows[0]!.r;

http
  .createServer((request, response) => {
    const url = request.url!;
    const asked = url.startsWith('/queries/')
      ? answer('one', ONE, [url.slice(9)])
      : url.startsWith('/queries')
        ? answer('list', LIST, [TENANT])
        : Promise.resolve('{}');
    void asked.then((body) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  })
  .listen(Number(process.env['PORT']), '127.0.0.1');
