/**
 * Measures the memory of a process whose clients send requests and receive nothing:
 * `npm run build && node bench/unread.ts [sockets=40] [users=1] [seconds=20] [dist=dist]`. Each request is for a page of 8 MB.
 * Prints Markdown: the peak while the responses wait, what remains, and after the connections have closed.
 */
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { printTable } from './markdown.ts';
import { readOptions } from './options.ts';
import { ownMemoryOf } from './processes.ts';
import { runSql, withService } from './service.ts';

const { sockets, users, seconds, dist } = readOptions({ sockets: '40', users: '1', seconds: '20', dist: 'dist' });
const ROWS = 1000;
const CSV = `n,text\n${Array.from({ length: ROWS }, (_, n) => `${n},${String(n).padStart(5, '0').repeat(1600)}`).join('\n')}`;

const tokenOf = (n: number): string => `dws_${'u'.repeat(40)}${String(n).padStart(3, '0')}`;

await withService({ roles: ['web', 'worker'], dist }, async ({ base, call, databaseUrl, pids }) => {
  const form = new FormData();
  form.append('file', new Blob([CSV], { type: 'text/csv' }), 'wide.csv');
  const { id } = await call('POST', '/api/datasets/_upload', form);
  for (let n = 1; n <= Number(users); n++) {
    const hash = createHash('sha256').update(tokenOf(n)).digest('base64url');
    await runSql(
      databaseUrl,
      `insert into dws.api_token (id, tenant_id, user_id, name, token_hash, prefix, scopes)
      select gen_random_uuid(), tenant_id, id, 'unread', '${hash}', 'dws_u', '["read"]'
      from dws.app_user where username = 'user${n}'`,
    );
    if (n > 1) {
      const [user] = await runSql(databaseUrl, `select id from dws.app_user where username = 'user${n}'`);
      await call('PUT', `/api/datasets/${id}/shares/${user!['id']}`, { accessLevel: 1 });
    }
  }
  const path = `/api/datasets/${id}/data?limit=${ROWS}`;
  const size = (await (await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${tokenOf(1)}` } })).text())
    .length;
  const [web] = pids as [number];
  const before = ownMemoryOf(web);
  const open: Socket[] = [];
  for (let n = 0; n < Number(sockets); n++) {
    const socket = connect(Number(new URL(base).port), '127.0.0.1').on('error', () => {});
    socket.pause();
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${tokenOf(1 + (n % Number(users)))}\r\n\r\n`,
    );
    open.push(socket);
  }
  let peak = 0;
  for (const end = Date.now() + 1000 * Number(seconds); Date.now() < end; await setTimeout(50))
    peak = Math.max(peak, ownMemoryOf(web));
  const held = ownMemoryOf(web);
  for (const socket of open) socket.destroy();
  await setTimeout(5000);
  printTable(
    ['sockets', 'users', 'MB of a response', 'before MiB', 'peak MiB', 'then MiB', 'after MiB'],
    [
      [
        sockets,
        users,
        (size / 1e6).toFixed(1),
        ...[before, peak, held, ownMemoryOf(web)].map((number) => number.toFixed(0)),
      ],
    ],
  );
});
