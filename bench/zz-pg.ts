import { readFileSync } from 'node:fs';
import pg from 'pg';
import { besideRaw, DEFAULTS } from './beside-raw.ts';
import { fill, idOf } from './fill.ts';
await besideRaw({ ...DEFAULTS, rounds: '1', warm: '0.2' } as any, async ({ databaseUrl }) => {
  await fill(databaseUrl, 10000);
  const c = new pg.Client({ connectionString: databaseUrl });
  await c.connect();
  const {
    rows: [s],
  } = await c.query(`select tenant_id, id, folder_id from dws.saved_query limit 1`);
  const {
    rows: [d],
  } = await c.query(`select id from dws.datasource limit 1`);
  const {
    rows: [u],
  } = await c.query(`select id from dws.app_user limit 1`);
  if (process.argv[2]) {
    const def = async (n: string) =>
      (await c.query(`select pg_get_functiondef('dws.${n}'::regproc) d`)).rows[0].d as string;
    let f = await def('fold');
    f = f.replace(
      /select (replace[^]*?) \$function\$$/m,
      "select case when $1 ~ '^[ -~]*$' then lower($1) else $1 end \$function\$",
    );
    const old = (await def('fold')).match(/select (replace[^]*) \$function\$/)![1];
    await c.query(
      `create or replace function dws.fold(text) returns text language sql immutable parallel safe as $f$ select case when $1 ~ '^[ -~]*$' then lower($1) else ${old} end $f$`,
    );
    const w = (await def('words')).match(
      /select distinct left\(word, 64\) from (regexp_split_to_table\([^]*\)) word where/,
    )![1];
    await c.query(
      `create or replace function dws.words(text) returns setof text language sql immutable parallel safe rows 20 as $f$ select distinct left(word, 64) from regexp_split_to_table(case when $1 ~ '^[ -~]*$' then lower($1) else ${w.replace(/^regexp_split_to_table\(/, '').replace(/, '\[\^[^]*$/, '')} end, '[^0-9a-z${process.argv[2] === '2' ? '' : '\\u00aa\\u00b5\\u00ba\\u00c0-\\u00d6'}]+') word where word <> '' $f$`,
    );
    await c.query(
      'alter table dws.search_entry drop constraint search_entry_tenant_id_fkey; alter table dws.activity drop constraint activity_tenant_id_fkey; alter table dws.audit_event drop constraint audit_event_tenant_id_fkey;',
    );
  }
  await c.query(`set role dws_app`);
  await c.query(`select set_config('app.tenant',$1,false)`, [s.tenant_id]);
  const pid = (await c.query('select pg_backend_pid() p')).rows[0].p;
  const cpu = () => {
    const t = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const f = t
      .slice(t.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return (f[11]! + f[12]!) * 10;
  };
  const ids: string[] = [];
  let n = 0;
  const uuid = () => crypto.randomUUID();
  const run = async (name: string, text: string, values: (i: number) => unknown[], N = 2000) => {
    for (let i = 0; i < 20; i++) await c.query({ name, text, values: values(n++) });
    const a = cpu();
    for (let i = 0; i < N; i++) await c.query({ name, text, values: values(n++) });
    console.log(name.padEnd(28), (((cpu() - a) * 1000) / N).toFixed(0), 'µs');
  };
  await run('select 1', 'select $1::int', (i) => [i]);
  await run('begin', 'begin', () => [], 1);
  await c.query('commit');
  await run(
    'select ds for update',
    `select r.id, r.name from dws.datasource r where r.tenant_id=$1 and r.id=$2 for update`,
    () => [s.tenant_id, d.id],
  );
  await run('select ds', `select r.id, r.name from dws.datasource r where r.tenant_id=$1 and r.id=$2`, () => [
    s.tenant_id,
    d.id,
  ]);
  const ins = (i: number) => {
    const id = uuid();
    ids.push(id);
    return [
      id,
      s.tenant_id,
      'bench-new',
      'new-' + i,
      `user:${u.id}`,
      d.id,
      'sql',
      'select 1',
      '[]',
      new Date().toISOString(),
    ];
  };
  await run(
    'insert query',
    `insert into dws.saved_query (id,tenant_id,version,created_at,updated_at,name,slug,owner_id,datasource_id,language,query,params) values ($1,$2,1,$10,$10,$3,$4,$5,$6,$7,$8,$9)`,
    ins,
  );
  await run(
    'update query',
    `update dws.saved_query set name=$3, updated_at=$4, version=version+1 where tenant_id=$1 and id=$2`,
    (i) => [s.tenant_id, ids[i % ids.length], 'bench-upd', new Date().toISOString()],
  );
  const act = (i: number) => [
    JSON.stringify([
      {
        id: uuid(),
        tenant_id: s.tenant_id,
        kind: 'query',
        resource_id: ids[0],
        name: 'x',
        owner_id: `user:${u.id}`,
        user_id: u.id,
        type: 'query.created',
        message: 'x created y',
        data: {},
      },
    ]),
  ];
  await run(
    'activity json',
    `insert into dws.activity (id, tenant_id, kind, resource_id, name, owner_id, user_id, type, message, data, created_at)
    select a.id, a.tenant_id, a.kind, a.resource_id, a.name, a.owner_id, a.user_id, a.type, a.message, coalesce(a.data, '{}'), clock_timestamp()
    from jsonb_to_recordset($1::jsonb) as a(id uuid, tenant_id uuid, kind text, resource_id uuid, name text, owner_id text, user_id uuid, type text, message text, data jsonb)`,
    act,
  );
  await run(
    'activity values',
    `insert into dws.activity (id, tenant_id, kind, resource_id, name, owner_id, user_id, type, message, data, created_at) values ($1,$2,'query',$3,'x',$4,$5,'query.created','x created y','{}',clock_timestamp())`,
    () => [uuid(), s.tenant_id, ids[0], `user:${u.id}`, u.id],
  );
  await run(
    'audit',
    `insert into dws.audit_event (id, tenant_id, user_id, username, action, kind, resource_id, outcome, channel, address, token_id, session_id, request_id, created_at)
      select $1, t.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, clock_timestamp() from dws.tenant t where t.id = $2`,
    () => [
      uuid(),
      s.tenant_id,
      u.id,
      'ann',
      'createSavedQuery',
      'query',
      ids[0],
      'succeeded',
      'rest',
      '127.0.0.1',
      null,
      null,
      'abc-123',
    ],
  );
  await run('search document', `select dws.search_document($1,$2,'','')`, () => ['bench-new', 'new-1']);
  await run('put_search_entry', `select dws.put_search_entry($1::uuid,'query',$2::uuid,$3,$4,$5,$6,now())`, (i) => [
    s.tenant_id,
    ids[i % ids.length],
    `user:${u.id}`,
    'bench-upd',
    'new-1',
    '',
  ]);
  await run(
    'check unused',
    `select id, kind, name, owner_id as "ownerId" from (select u.query_id as used_id, u.tenant_id, u.id, 'dataset' as kind, u.name, u.owner_id from dws.dataset u) u where tenant_id = $1 and used_id = $2`,
    (i) => [s.tenant_id, ids[i % ids.length]],
  );
  await run('delete query', `delete from dws.saved_query where tenant_id=$1 and id=$2`, () => [s.tenant_id, ids.pop()]);
  await c.end();
});
