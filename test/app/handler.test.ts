import { createHash, createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { test } from '../support/fixture.ts';
import { bodyOf, deployApp, post } from './handler-fixture.ts';

test('handlers get context, environment, identity and parameters', async ({ admin, service }) => {
  const app = await deployApp(
    { admin, service },
    'Context App',
    {
      'server/[id].js':
        'export const GET = ({ context, env, request }) => ({ context, env, request, header: request.headers.get("X-A") });',
    },
    { TOKEN: 'a token' },
  );
  const { json } = await app.respond('server/[id].js', {
    path: '/7',
    params: { id: '7' },
    query: { a: ['1', '2'], b: '' },
    headers: { 'x-a': 'b' },
    roles: ['viewer', 'editor'],
  });
  expect(json).toEqual({
    context: {
      app: { id: app.id, name: 'Context App', slug: 'context-app' },
      tenant: 'default',
      releaseId: app.app.releaseId,
      baseUrl: service.platform.publicUrl,
    },
    env: { TOKEN: 'a token' },
    request: {
      method: 'GET',
      path: '/7',
      params: { id: '7' },
      query: { a: ['1', '2'], b: '' },
      headers: { 'x-a': 'b' },
      user: { id: '019a0000-0000-7000-8000-000000000001', name: 'ann', type: 'user', username: 'ann' },
      roles: ['viewer', 'editor'],
      body: null,
      rawBody: '',
    },
    header: 'b',
  });
});

test('bodies are parsed by their type, and never refused', async ({ admin, service }) => {
  const show = '(value) => value instanceof Uint8Array ? { bytes: [...value] } : value';
  const app = await deployApp({ admin, service }, 'Bodies', {
    'webhooks/body.js': `const show = ${show};
      export const post = ({ request }) => ({ body: show(request.body), rawBody: show(request.rawBody) });`,
    'webhooks/file.js': `export const post = ({ request: { body } }) =>
      ({ ...body, file: { ...body.file, bytes: [...body.file.bytes] } });`,
  });
  const read = async (type: string, body: string | Uint8Array) =>
    (await app.respond('webhooks/body.js', { method: 'post', headers: { 'content-type': type }, body })).json;
  expect(await read('application/json', '{"a": "€"}')).toEqual({ body: { a: '€' }, rawBody: '{"a": "€"}' });
  expect(await read('application/problem+json; charset=utf-8', '[1]')).toEqual({ body: [1], rawBody: '[1]' });
  expect(await read('application/json', '{"a":')).toEqual({ body: '{"a":', rawBody: '{"a":' });
  expect(await read('text/plain', '\uFEFFhé')).toEqual({ body: '\uFEFFhé', rawBody: '\uFEFFhé' });
  expect(await read('', new Uint8Array([255, 0]))).toEqual({ body: { bytes: [255, 0] }, rawBody: { bytes: [255, 0] } });
  expect(await read('application/x-www-form-urlencoded', 'a=1+2&b=%C3%A9&a=3&%=%&__proto__=x')).toEqual({
    body: JSON.parse('{"a": ["1 2", "3"], "b": "é", "%": "%", "__proto__": "x"}'),
    rawBody: 'a=1+2&b=%C3%A9&a=3&%=%&__proto__=x',
  });
  const form = new FormData();
  form.append('name', 'Zoë\r\n--x');
  form.append('file', new File([new Uint8Array([0, 200, 13, 10])], 'a.bin', { type: 'image/png' }));
  const sent = new Response(form);
  const headers = { 'content-type': sent.headers.get('content-type')! };
  const body = new Uint8Array(await sent.arrayBuffer());
  expect((await app.respond('webhooks/file.js', { method: 'post', headers, body })).json).toEqual({
    name: 'Zoë\r\n--x',
    file: { filename: 'a.bin', contentType: 'image/png', bytes: [0, 200, 13, 10] },
  });
  expect(await read('multipart/form-data; boundary=a', 'no form')).toEqual({ body: 'no form', rawBody: 'no form' });
});

test('signatures, hashes, random values and Base64 work as in Node', async ({ admin, service }) => {
  const app = await deployApp({ admin, service }, 'Crypto', {
    'server/crypto.js': bodyOf(`
      const { secret, data, signatures } = request.body;
      const bytes = new TextEncoder().encode(data);
      return {
        verified: signatures.map((one) => crypto.verifyHmac('sha256', secret, data, one)),
        ofBytes: crypto.verifyHmac('SHA-256', new TextEncoder().encode(secret), bytes, crypto.hmac('sha256', secret, bytes, 'bytes')),
        missing: [undefined, null, 5, ''].map((one) => crypto.verifyHmac('sha256', secret, data, one)),
        hmac: crypto.hmac('sha512', secret, data, 'base64'),
        hash: crypto.hash('sha1', data),
        uuid: /^[\\da-f]{8}-[\\da-f]{4}-4[\\da-f]{3}-[\\da-f]{4}-[\\da-f]{12}$/.test(crypto.randomUUID()) &&
          crypto.randomUUID() !== crypto.randomUUID(),
        random: crypto.randomBytes(16).length,
        base64: [base64Encode(data), base64Encode(bytes), base64Decode(base64Encode(data)), [...base64Decode('/w', 'bytes')]],
      };`),
    'server/secret.js': bodyOf("return crypto.verifyHmac('sha256', env.MISSING, request.body, 'a')"),
    'server/algorithm.js': bodyOf("return crypto.hash('md5', '')"),
  });
  const [secret, data] = ['It’s a secret', 'Hello, Wörld!'];
  const digest = createHmac('sha256', secret).update(data).digest();
  const wrong = Buffer.from(digest.map((byte, i) => (i === 31 ? byte ^ 1 : byte)));
  const signatures = [
    digest.toString('hex'),
    digest.toString('hex').toUpperCase(),
    `sha256=${digest.toString('hex')}`,
    digest.toString('base64'),
    `sha256=${digest.toString('base64url')}`,
    wrong.toString('hex'),
    wrong.toString('base64'),
    `sha512=${digest.toString('hex')}`,
    `${digest.toString('hex')}00`,
    digest.toString('hex').slice(2),
    'é',
  ];
  const { json } = await post(app, 'crypto', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret, data, signatures }),
  });
  expect(json).toEqual({
    verified: [true, true, true, true, true, false, false, false, false, false, false],
    ofBytes: true,
    missing: [false, false, false, false],
    hmac: createHmac('sha512', secret).update(data).digest('base64'),
    hash: createHash('sha1').update(data).digest('hex'),
    uuid: true,
    random: 16,
    base64: [Buffer.from(data).toString('base64'), Buffer.from(data).toString('base64'), data, [255]],
  });
  expect((await app.fail('server/secret.js', { method: 'post' })).message).toBe(
    'server/secret.js:3: TypeError: The secret is empty',
  );
  expect((await app.fail('server/algorithm.js', { method: 'post' })).message).toBe(
    'server/algorithm.js:3: TypeError: The algorithm md5 is not supported',
  );
});

test('Markdown becomes HTML without the HTML and the scripts of its text', async ({ admin, service }) => {
  const app = await deployApp({ admin, service }, 'Markdown', {
    'lib/text.ts': 'export const render = (app: any, text: string): string => app.markdown(text);',
    'server/a.ts': `import { render } from '../lib/text.ts';
      export const get = (app) => render(app, '# A <b>b</b>\\n[x](javascript:alert(1)) <script>1</script>');`,
  });
  expect(await app.respond('server/a.ts')).toMatchObject({
    text: '<h1>A &lt;b&gt;b&lt;/b&gt;</h1>\n<p>[x](javascript:alert(1)) &lt;script&gt;1&lt;/script&gt;</p>\n',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  });
});

test('lines are logged without values of the environment, up to 64 KB', async ({ admin, service }) => {
  const app = await deployApp(
    { admin, service },
    'Logs',
    {
      'server/a.js': bodyOf(`
        log.info('starts with', { key: env.KEY, id: 7 });
        log.warn(env.KEY + env.LONGER + env.SHORT); log.error(new Error(env.QUOTED)); log('plain'); console.debug('console');`),
      'server/many.js': bodyOf('for (let i = 0; i < 100; i++) log.info("x".repeat(1000))'),
      'server/thrown.js': bodyOf('throw new Error(`The key ${env.KEY} is wrong`)'),
    },
    { KEY: 'secret', LONGER: 'secret-and-more', SHORT: 'abc', QUOTED: 'a "quoted"\nsecret' },
  );
  const { logs, result } = await app.run('server/a.js', { method: 'post' });
  expect(result).toMatchObject({ response: { status: 204 } });
  expect(logs.map(({ level, text }) => [level, text.split('\n    at ')[0]])).toEqual([
    ['info', 'starts with {"key":"••••","id":7}'],
    ['warn', '••••abc'],
    ['error', 'Error: ••••'],
    ['info', 'plain'],
    ['debug', 'console'],
  ]);
  const many = await app.run('server/many.js', { method: 'post' });
  const total = many.logs.reduce((sum, { text }) => sum + text.length, 0);
  expect(total).toBeGreaterThan(60_000);
  expect(total).toBeLessThanOrEqual(65_536);
  expect(await app.fail('server/thrown.js', { method: 'post' })).toEqual({
    status: 500,
    code: 'UPSTREAM_FAILED',
    message: 'server/thrown.js:3: The key •••• is wrong',
  });
});
