import { describe, expect } from 'vitest';
import { checkSettings, readSettings } from '../../src/services/template/template-settings.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createTemplate, test } from './template-fixture.ts';

const SET = `mutation ($id: ID!, $settings: JSONObject!) { setTemplateSettings(templateId: $id, settings: $settings) }`;
const SETTINGS = {
  page: { size: 'Letter', landscape: true, margin: { top: '3cm', bottom: '1in' } },
  header: 'Page {{ page }} of {{ pages }}',
  locale: 'de-DE',
  timezone: 'Europe/Berlin',
  strict: true,
  editor: { zoom: 1.5, open: ['a'] },
};
const margin = (length: string) => ({ top: length, right: length, bottom: length, left: length });

/** Wrong settings with the path of the error. */
const WRONG: readonly (readonly [string, object])[] = [
  ['page', { page: 'A4' }],
  ['page.paper', { page: { paper: 'A4' } }],
  ['page.size', { page: { size: 'A2' } }],
  ['page.size', { page: { size: 'toString' } }],
  ['page.size.height', { page: { size: { width: '10cm' } } }],
  ['page.size.width', { page: { size: { width: '9mm', height: '10cm' } } }],
  ['page.size.height', { page: { size: { width: '10cm', height: '2001mm' } } }],
  ['page.size.width', { page: { size: { width: '10vw', height: '10cm' } } }],
  ['page.size.depth', { page: { size: { width: '10cm', height: '10cm', depth: '1cm' } } }],
  ['page.landscape', { page: { landscape: 'yes' } }],
  ['page.margin', { page: { margin: 20 } }],
  ['page.margin', { page: { margin: '-1mm' } }],
  ['page.margin', { page: { margin: '1mm; size: A3' } }],
  ['page.margin.left', { page: { margin: { left: '1' } } }],
  ['page.margin.side', { page: { margin: { side: '1mm' } } }],
  ['page.margin', { page: { margin: '105mm' } }],
  ['page.margin', { page: { size: 'A5', landscape: true, margin: '74mm' } }],
  ['header', { header: 1 }],
  ['footer', { footer: 'é'.repeat(10_241) }],
  ['locale', { locale: 'de_DE!' }],
  ['locale', { locale: 7 }],
  ['timezone', { timezone: 'Mars/Base' }],
  ['timezone', { timezone: '+02:00' }],
  ['strict', { strict: 'true' }],
];

describe('the settings of a template', () => {
  test('are replaced and read as an object, in both APIs', async ({ ann }) => {
    const { id, path } = await createTemplate(ann);
    expect((await ann.get(`${path}/settings`)).body).toEqual({});
    expect(await ann.put(`${path}/settings`, SETTINGS)).toMatchObject({ status: 200, body: SETTINGS });
    expect((await ann.get(`${path}/settings`)).body).toEqual(SETTINGS);
    await expectBody(ann.get(path), 200, { settings: SETTINGS });
    const { setTemplateSettings } = await ann.data(SET, { id, settings: { mine: 1 } });
    expect(setTemplateSettings).toEqual({ mine: 1 });
    const { template } = await ann.data(`query ($id: ID!) { template(id: $id) { settings } }`, { id });
    expect(template).toEqual({ settings: { mine: 1 } });
  });

  test.for(WRONG)('are refused by their path %s: %j', async ([key, settings], { ann }) => {
    const { path } = await createTemplate(ann);
    await expectInvalid(ann.put(`${path}/settings`, settings), `settings.${key}`, /^settings\./);
    await expectInvalid(ann.put(path, { settings }), `settings.${key}`, /^settings\./);
    await expectInvalid(ann.post('/templates', { name: 'T', settings }), `settings.${key}`, /^settings\./);
    expect((await ann.get(`${path}/settings`)).body).toEqual({});
  });

  test('are bounded', async ({ ann }) => {
    const { path } = await createTemplate(ann);
    await expectInvalid(ann.put(`${path}/settings`, { a: 'x'.repeat(64 * 1024) }), 'settings', /at most 64 KiB/);
    const deep = JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`) as unknown;
    await expectInvalid(ann.put(`${path}/settings`, { deep }), 'settings', /at most 20 levels/);
    await expectStatus(ann.put(`${path}/settings`, ['A4'] as never), 400);
  });

  test('are read by readers of the template and changed by its writers', async ({ ann, bob, anonymous, stranger }) => {
    const { id, path } = await createTemplate(ann);
    await expectStatus(anonymous.get(`${path}/settings`), 401);
    await expectStatus(anonymous.put(`${path}/settings`, {}), 401);
    for (const client of [bob, stranger]) {
      await expectError(client.get(`${path}/settings`), 404, `There is no template ${id}`);
      await expectError(client.put(`${path}/settings`, {}), 404, `There is no template ${id}`);
    }
    await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    expect(await bob.get(`${path}/settings`)).toMatchObject({ status: 200, body: {} });
    await expectError(bob.put(`${path}/settings`, {}), 403, 'You lack the permission template:write');
    await expectGraphqlError(bob.gql(SET, { id, settings: {} }), 'FORBIDDEN');
    await expectStatus(ann.put(`${path}/shares/${bob.id}`, { accessLevel: 2 }), 200);
    expect(await bob.put(`${path}/settings`, { a: 1 })).toMatchObject({ status: 200, body: { a: 1 } });
    await expectError(ann.put(`/templates/${UNKNOWN_ID}/settings`, {}), 404, `There is no template ${UNKNOWN_ID}`);
  });
});

describe('the settings of a rendering', () => {
  test('are A4 with margins of 20 mm, English, in the time zone of the caller', () => {
    expect(readSettings({}, { timezone: 'Asia/Tokyo' })).toEqual({
      page: { size: 'A4', landscape: false, margin: margin('20mm') },
      header: null,
      footer: null,
      locale: 'en',
      timezone: 'Asia/Tokyo',
      strict: false,
    });
    expect(readSettings({}).timezone).toBe('UTC');
    expect(readSettings({}, { timezone: 'Mars/Base' }).timezone).toBe('UTC');
  });

  test('are those that are set, and defaults', () => {
    expect(readSettings(checkSettings(SETTINGS), { timezone: 'Asia/Tokyo' })).toEqual({
      page: { size: 'Letter', landscape: true, margin: { top: '3cm', right: '20mm', bottom: '1in', left: '20mm' } },
      header: 'Page {{ page }} of {{ pages }}',
      footer: null,
      locale: 'de-DE',
      timezone: 'Europe/Berlin',
      strict: true,
    });
    expect(
      readSettings({ page: { size: { width: '5in', height: '60mm' }, margin: 0 }, locale: 'EN-us' }),
    ).toMatchObject({
      page: { size: { width: '5in', height: '60mm' }, margin: margin('0mm') },
      locale: 'en-US',
    });
  });

  test('are the defaults where a stored value is wrong', () => {
    for (const [, wrong] of WRONG) expect(readSettings({ ...wrong })).toEqual(readSettings({}));
  });
});
