import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createTemplate, test } from './template-fixture.ts';

const SET = `mutation ($id: ID!, $inputs: [TemplateInputInput!]!) {
  setTemplateInputs(templateId: $id, inputs: $inputs) { id name label required defaultValue schema }
}`;
const COUNTRY = {
  name: 'country',
  label: 'Country',
  description: 'Where the orders went',
  required: true,
  schema: { type: 'string', enum: ['DE', 'FR'] },
};
const SINCE = { name: 'since', defaultValue: '2026-01-01', schema: { type: 'string', format: 'date' } };

const itemsOf = (body: { _embedded: Record<string, Record<string, unknown>[]> }) =>
  body._embedded['svc:template-input']!;

describe('the inputs of a template', () => {
  test('are replaced and read as a list, in both APIs', async ({ ann }) => {
    const { id, path } = await createTemplate(ann);
    await expectBody(ann.get(`${path}/inputs`), 200, { total: 0, _embedded: { 'svc:template-input': [] } });
    const put = await expectBody(ann.put(`${path}/inputs`, { inputs: [COUNTRY, SINCE] }), 200, { total: 2, count: 2 });
    expect(itemsOf(put)).toMatchObject([
      { ...COUNTRY, defaultValue: null, _links: { 'svc:template': { href: `/api/templates/${id}` } } },
      { ...SINCE, label: null, description: null, required: false },
    ]);
    const read = await expectBody(ann.get(`${path}/inputs`), 200, { total: 2 });
    expect(itemsOf(read)).toEqual(itemsOf(put));

    const { template } = await ann.data(`query ($id: ID!) { template(id: $id) { inputs { name schema } } }`, { id });
    expect(template.inputs).toEqual([
      { name: 'country', schema: COUNTRY.schema },
      { name: 'since', schema: SINCE.schema },
    ]);
    const { setTemplateInputs } = await ann.data(SET, { id, inputs: [SINCE] });
    expect(setTemplateInputs).toMatchObject([
      { id: itemsOf(put)[1]!['id'], name: 'since', defaultValue: '2026-01-01' },
    ]);
    await expectBody(ann.get(`${path}/inputs`), 200, { total: 1 });
  });

  test('keep their ids when an item names them by id, or without one by name', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    const [country, since] = itemsOf((await ann.put(`${path}/inputs`, { inputs: [COUNTRY, SINCE] })).body);
    const swapped = itemsOf(
      await expectBody(
        ann.put(`${path}/inputs`, {
          inputs: [
            { ...SINCE, id: country!['id'] },
            { ...COUNTRY, id: String(since!['id']).toUpperCase() },
          ],
        }),
        200,
        { total: 2 },
      ),
    );
    expect(swapped.map(({ id, name }) => [id, name])).toEqual([
      [country!['id'], 'since'],
      [since!['id'], 'country'],
    ]);
    const named = itemsOf((await ann.put(`${path}/inputs`, { inputs: [{ name: 'n' }, COUNTRY] })).body);
    expect(named[1]!['id']).toBe(since!['id']);
    const whole = itemsOf((await ann.get(`${path}/inputs`)).body);
    expect(itemsOf((await ann.put(`${path}/inputs`, { inputs: whole })).body)).toEqual(whole);
  });

  test('have ids of their template only, each once', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    const other = await createTemplate(ann);
    const [foreign] = itemsOf((await ann.put(`${other.path}/inputs`, { inputs: [COUNTRY] })).body);
    await expectError(
      ann.put(`${path}/inputs`, { inputs: [{ ...SINCE, id: foreign!['id'] }] }),
      404,
      `There is no template input ${String(foreign!['id'])}`,
    );
    const [own] = itemsOf((await ann.put(`${path}/inputs`, { inputs: [SINCE] })).body);
    const twice = [
      { id: own!['id'], name: 'a' },
      { id: own!['id'], name: 'b' },
    ];
    await expectInvalid(ann.put(`${path}/inputs`, { inputs: twice }), 'inputs.1.id', /another item/);
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [{ id: 'x', name: 'a' }] }), 400);
    await expectBody(ann.get(`${path}/inputs`), 200, { total: 1 });
  });

  test.for([
    '',
    'a b',
    '1st',
    'é',
    'a'.repeat(64),
    'inputs',
    'user',
    'range',
    'loop',
    'true',
    'none',
    'not',
    '__proto__',
    'constructor',
  ])('have names that documents can use, not %j', async (name, { ann }) => {
    const { path } = await createTemplate(ann);
    await expectInvalid(ann.put(`${path}/inputs`, { inputs: [SINCE, { name }] }), 'inputs.1.name', /^inputs\.1\.name /);
  });

  test('have names that are unique among inputs and processors, and at most 50', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    await expectInvalid(ann.put(`${path}/inputs`, { inputs: [SINCE, SINCE] }), 'inputs.1.name', /must be unique/);
    const processor = { name: 'orders', type: 'query', config: { queryId: UNKNOWN_ID } };
    await expectStatus(ann.put(`${path}/processors`, { processors: [processor] }), 200);
    await expectInvalid(ann.put(`${path}/inputs`, { inputs: [{ name: 'orders' }] }), 'inputs.0.name', /unique/);
    const many = Array.from({ length: 51 }, (_, i) => ({ name: `n${i}` }));
    await expectInvalid(ann.put(`${path}/inputs`, { inputs: many }), 'inputs', /at most 50 items/);
    await expectBody(ann.put(`${path}/inputs`, { inputs: many.slice(1) }), 200, { total: 50 });
  });

  test('have schemas, and defaults that fit them, within limits', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    const put = (input: object) => ann.put(`${path}/inputs`, { inputs: [{ name: 'x', ...input }] });
    await expectInvalid(put({ schema: { type: 'text' } }), 'inputs.0.schema.type', /allowed values|must be/);
    await expectInvalid(put({ schema: { pattern: '(?=a)' } }), 'inputs.0.schema.pattern', /"\(\?=a\)"/);
    await expectInvalid(put({ schema: { $ref: 'http://a/b' } }), 'inputs.0.schema.$ref', /other documents/);
    await expectInvalid(put({ schema: { title: 'x'.repeat(32 * 1024) } }), 'inputs.0.schema', /at most 32 KiB/);
    await expectInvalid(
      put({ schema: { type: 'integer' }, defaultValue: 'one' }),
      'inputs.0.defaultValue',
      'inputs.0.defaultValue must be integer',
    );
    await expectInvalid(put({ defaultValue: 'x'.repeat(64 * 1024) }), 'inputs.0.defaultValue', /at most 64 KiB/);
    await expectInvalid(put({ label: 'x'.repeat(256) }), 'inputs.0.label', /at most 255/);
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [{ name: 'x', color: 1 }] }), 400);
    await expectStatus(ann.put(`${path}/inputs`, {}), 400);
    await expectBody(ann.get(`${path}/inputs`), 200, { total: 0 });
    await expectBody(put({ schema: { type: 'integer' }, defaultValue: 0 }), 200, {
      _embedded: { 'svc:template-input': [{ defaultValue: 0 }] },
    });
  });

  test('are read by readers of the template and changed by its writers', async ({ ann, bob, anonymous, stranger }) => {
    const { id, path } = await createTemplate(ann);
    const body = { inputs: [SINCE] };
    await expectStatus(anonymous.get(`${path}/inputs`), 401);
    await expectStatus(anonymous.put(`${path}/inputs`, body), 401);
    for (const client of [bob, stranger]) {
      await expectError(client.get(`${path}/inputs`), 404, `There is no template ${id}`);
      await expectError(client.put(`${path}/inputs`, body), 404, `There is no template ${id}`);
      await expectGraphqlError(client.gql(SET, { id, ...body }), 'NOT_FOUND');
    }
    await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    await expectBody(bob.get(`${path}/inputs`), 200, { total: 0 });
    await expectError(bob.put(`${path}/inputs`, body), 403, 'You lack the permission template:write');
    await expectGraphqlError(bob.gql(SET, { id, ...body }), 'FORBIDDEN', 'You lack the permission template:write');
    await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 2 }), 200);
    await expectBody(bob.put(`${path}/inputs`, body), 200, { total: 1 });
    await expectError(ann.put(`/templates/${UNKNOWN_ID}/inputs`, body), 404, `There is no template ${UNKNOWN_ID}`);
  });

  test('are a version of the template, which a precondition can name', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    const former = (await ann.get(path)).headers.get('etag')!;
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [SINCE] }, { 'if-match': former }), 200);
    expect((await ann.get(path)).headers.get('etag')).not.toBe(former);
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [] }, { 'if-match': former }), 412);
    await expectBody(ann.get(`${path}/inputs`), 200, { total: 1 });
  });

  test('of a draft are its own until it is committed, and keep their ids then', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    const [country] = itemsOf((await ann.put(`${path}/inputs`, { inputs: [COUNTRY] })).body);
    const draft = `/templates/${(await ann.post(`${path}/_edit`)).body.id}`;
    const [copy] = itemsOf((await ann.get(`${draft}/inputs`)).body);
    expect(copy!['id']).not.toBe(country!['id']);
    await expectError(
      ann.put(`${draft}/inputs`, { inputs: [{ ...COUNTRY, id: country!['id'] }] }),
      404,
      `There is no template input ${String(country!['id'])}`,
    );
    const changed = { ...COUNTRY, name: 'land', label: 'Land' };
    await expectStatus(ann.put(`${draft}/inputs`, { inputs: [SINCE, { ...changed, id: copy!['id'] }] }), 200);
    await expectStatus(ann.put(`${draft}/processors`, { processors: [] }), 200);
    await expectStatus(ann.put(`${draft}/settings`, { locale: 'de' }), 200);
    expect(itemsOf((await ann.get(`${path}/inputs`)).body)).toEqual([country]);
    expect((await ann.get(`${path}/settings`)).body).toEqual({});
    await expectStatus(ann.post(`${path}/draft/_commit`), 200);
    expect(itemsOf((await ann.get(`${path}/inputs`)).body)).toMatchObject([
      { name: 'since' },
      { id: country!['id'], name: 'land', label: 'Land' },
    ]);
    expect((await ann.get(`${path}/settings`)).body).toEqual({ locale: 'de' });
  });

  test('are one activity for each list that changed', async ({ ann }) => {
    const { path } = await createTemplate(ann, { name: 'Sales' });
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [COUNTRY, SINCE] }), 200);
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [COUNTRY, SINCE] }), 200);
    await expectStatus(ann.put(`${path}/inputs`, { inputs: [SINCE, { name: 'other' }] }), 200);
    await expectStatus(ann.put(`${path}/settings`, { strict: true }), 200);
    const { body } = await ann.get(`${path}/activity`);
    const events = body._embedded['svc:activity'] as { type: string; message: string }[];
    expect(events.map(({ type, message }) => [type, message])).toEqual([
      ['template.updated', 'ann changed settings of Sales'],
      ['template.updated', 'ann changed the inputs of Sales'],
      ['template.updated', 'ann changed the inputs of Sales'],
      ['template.created', 'ann created Sales'],
    ]);
  });

  test('of two concurrent writers are the inputs of one of them', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    const lists = Array.from({ length: 6 }, (_, i) => [`a${i}`, `b${i}`]);
    const put = (names: string[]) => ann.put(`${path}/inputs`, { inputs: names.map((name) => ({ name })) });
    for (const response of await Promise.all(lists.map(put))) expect(response.status).toBe(200);
    const names = itemsOf((await ann.get(`${path}/inputs`)).body).map(({ name }) => name);
    expect(lists).toContainEqual(names);
  });
});
