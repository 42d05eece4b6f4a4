import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectInvalid, expectStatus } from '../support/expect.ts';
import { openMailServer, startDelivery } from '../support/mail-delivery.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { createRenderable, setContents, type TestTemplate } from '../template/render-fixture.ts';
import { createAction, preview, run, type TestAction } from './driver-fixture.ts';
import { addAction, addEmail, giveAddresses, runJob } from './email-fixture.ts';
import { createJob, test } from './job-fixture.ts';

const REFUSED = 'The file contains what the owner of the job may read';
const NOT_CHOSEN = 'Only the owner of the job chooses what it renders';
const SUCCESS = { success: true, error: null, attempts: 1, log: ['Wrote the file'] };

/** Creates a template of the owner that lists the regions of orders since an id. */
const createRegions = (owner: Client, datasetId: string): Promise<TestTemplate> =>
  createRenderable(
    owner,
    {
      files: {
        'regions.njk': '{{ user.username }}:{% for row in orders.rows %} {{ row.id }}{{ row.region }}{% endfor %}',
      },
      inputs: [{ name: 'least', required: true, schema: { type: 'integer' } }],
      processors: [
        {
          name: 'orders',
          type: 'dataset',
          config: { datasetId, filter: { id: { $gte: { $input: 'least' } } }, sort: 'id' },
        },
      ],
    },
    { handler: 'text', name: 'Regions' },
  );

const fileOf = ({ action }: TestAction): string => `${action.path}/action-file-contents`;

describe('the action render-template', () => {
  test('renders as the owner of the job, and keeps the file', async ({ ann, bob, orders, restrictBob }) => {
    await restrictBob({ region: 'EU' });
    const template = await createRegions(ann, orders.id);
    await expectStatus(ann.put(`${template.path}/shares/${bob.id}`, { accessLevel: 1 }), 200);
    const data = { templateId: template.slug, params: { least: 15 }, filename: 'Regions' };
    for (const [owner, text] of [
      [ann, 'ann: 15 16EU 17US 18APAC 19 20EU'],
      [bob, 'bob: 16EU 20EU'],
    ] as const) {
      const action = await createAction(owner, 'render-template', data);
      expect(action.data).toEqual({ ...data, templateId: template.id });
      expect(await preview(owner, action)).toEqual({
        template: 'Regions',
        filename: 'Regions.txt',
        contentType: 'text/plain; charset=utf-8',
      });
      expect(await run(owner, action, 'REST')).toEqual(SUCCESS);
      const { body, headers } = await owner.get(fileOf(action));
      expect({ body, type: headers.get('content-type') }).toEqual({ body: text, type: 'text/plain; charset=utf-8' });
    }
  });

  test('is refused for an unknown template, a draft, and wrong params and handlers', async ({ ann, bob, orders }) => {
    const { id } = await createRegions(ann, orders.id);
    const job = await createJob(ann);
    const create = (data: object, caller = ann) =>
      caller.post(`${job.path}/actions`, { type: 'render-template', name: 'Render', data });
    await expectInvalid(create({}), 'data.templateId', 'data.templateId is required');
    await expectError(create({ templateId: UNKNOWN_ID }), 404, `There is no template ${UNKNOWN_ID}`);
    await expectInvalid(create({ templateId: id }), 'data.params.least', 'data.params.least is required');
    await expectInvalid(
      create({ templateId: id, params: { least: 1, a: 1 } }),
      'data.params.a',
      'data.params.a is unknown',
    );
    await expectInvalid(
      create({ templateId: id, params: { least: 1 }, handler: 'docx' }),
      'data.handler',
      /must be one of html, pdf, text, csv/,
    );
    // A writer of the job who may not read the template.
    await expectStatus(ann.put(`${job.path}/shares/${bob.id}`, { accessLevel: 2 }), 200);
    await expectError(create({ templateId: id, params: { least: 1 } }, bob), 404, `There is no template ${id}`);
    const { body: draft } = await ann.post(`/templates/${id}/_edit`);
    await expectError(create({ templateId: draft.id, params: { least: 1 } }), 404, `There is no template ${draft.id}`);
  });

  test('says that the template has mistakes, without their places', async ({ ann, orders }) => {
    const template = await createRegions(ann, orders.id);
    const action = await createAction(ann, 'render-template', { templateId: template.id, params: { least: 1 } });
    await setContents(ann, template.path, 'regions.njk', 'secret name {{ 1 + }}');
    expect(await run(ann, action)).toEqual({
      success: false,
      error: 'The template has mistakes',
      attempts: 1,
      log: ['The template has mistakes'],
    });
    await setContents(ann, template.path, 'regions.njk', 'fine');
    await expectStatus(ann.put(`${template.path}/inputs`, { inputs: [] }), 200);
    expect(await run(ann, action)).toMatchObject({ error: 'The template does not accept these params or settings' });
  });
});

describe('the file of a rendering', () => {
  test('is read by the owner of the job only, and mailed by no one else', async ({ ann, bob, admin, orders }) => {
    await giveAddresses(ann, bob);
    const template = await createRegions(ann, orders.id);
    const action = await createAction(ann, 'render-template', { templateId: template.id, params: { least: 19 } });
    expect(await run(ann, action)).toEqual(SUCCESS);
    await expectStatus(ann.put(`${action.job.path}/shares/${bob.id}`, { accessLevel: 3 }), 200);
    await expectError(bob.get(fileOf(action)), 403, REFUSED);
    await expectBody(bob.get(action.action.path), 200, {
      file: null,
      fileUrl: null,
      data: { templateId: template.id },
    });
    expect((await bob.get(action.action.path)).body.data).not.toHaveProperty('params');
    await expectStatus(admin.get(fileOf(action)), 200);

    // Other settings are theirs to change, without params that they do not see.
    await expectStatus(bob.put(action.action.path, { data: { templateId: template.id, timeout: 60_000 } }), 200);
    expect((await ann.get(action.action.path)).body.data).toEqual({
      templateId: template.id,
      params: { least: 19 },
      timeout: 60_000,
    });
    const mail = { recipients: ['bob'], subject: 'Regions', body: '', attach: [action.action.id] };
    await expectError(
      bob.post(`${action.job.path}/actions`, { type: 'email', name: 'Mail', data: mail }),
      403,
      REFUSED,
    );
    const mailId = await addEmail(ann, action.job, { recipients: ['bob'], attach: [action.action.id] });
    // Only users who may read the mailed document change it.
    const other = await createRegions(bob, orders.id);
    await expectStatus(bob.put(`${other.path}/shares/${ann.id}`, { accessLevel: 1 }), 200);
    const data = { templateId: other.id, params: { least: 1 } };
    await expectError(bob.put(action.action.path, { data }), 403, NOT_CHOSEN);
    const [previewed] = ((await bob.post(`${action.job.path}/actions/${mailId}/_preview`)).body.preview as never)[
      'attachments'
    ] as object[];
    expect(previewed).toEqual({ action: 'render-template', filename: null, size: null });
  });

  test('is chosen by the owner of the job only', async ({ ann, bob, orders }) => {
    const template = await createRegions(bob, orders.id);
    await expectStatus(bob.put(`${template.path}/shares/${ann.id}`, { accessLevel: 1 }), 200);
    const action = await createAction(ann, 'render-template', { templateId: template.id, params: { least: 1 } });
    await expectStatus(ann.put(`${action.job.path}/shares/${bob.id}`, { accessLevel: 2 }), 200);
    // By a template of his own he could find out what the owner of the job reads.
    const data = { templateId: template.id, params: { least: 2 } };
    const added = { type: 'render-template', name: 'Regions', data };
    await expectError(bob.post(`${action.job.path}/actions`, added), 403, NOT_CHOSEN);
    await expectError(bob.put(action.action.path, { data }), 403, NOT_CHOSEN);
    await expectError(
      bob.post(`${action.action.path}/_preview`),
      403,
      'Only the owner of the job previews the document, as it has params',
    );
    await expectStatus(ann.put(action.action.path, { data }), 200);
  });

  test('is attached to a mail with its name and type', async ({ ann, service, orders }) => {
    await giveAddresses(ann);
    const template = await createRegions(ann, orders.id);
    const job = await createJob(ann);
    const attached = await addAction(ann, job, 'render-template', {
      templateId: template.id,
      params: { least: 20 },
      handler: 'pdf',
      filename: 'Regions',
    });
    await addEmail(ann, job, { recipients: ['ann'], attach: [attached] });
    expect(await runJob(ann, job)).toMatchObject({ success: true, error: null });
    const server = await openMailServer();
    startDelivery(service, server.url);
    await expect.poll(() => server.received.length).toBe(1);
    const [file] = server.received[0]!.attachments;
    expect(file).toMatchObject({ filename: 'Regions.pdf', contentType: 'application/pdf' });
    expect(file!.bytes.subarray(0, 5).toString()).toBe('%PDF-');
  });

  test('is deleted when the action names another template or the job gets another owner', async ({
    ann,
    bob,
    admin,
    orders,
    service,
  }) => {
    const [one, two] = [await createRegions(ann, orders.id), await createRegions(ann, orders.id)];
    const action = await createAction(ann, 'render-template', { templateId: one.id, params: { least: 19 } });
    expect(await run(ann, action)).toEqual(SUCCESS);
    await expectStatus(ann.put(action.action.path, { data: { templateId: two.id, params: { least: 19 } } }), 200);
    await expectStatus(ann.get(fileOf(action)), 404);
    expect(await run(ann, action)).toEqual(SUCCESS);
    const team = await createTeam(admin, 'Writers', bob);
    await expectStatus(admin.put(`${action.job.path}/owner`, { ownerId: `team:${team}` }), 200);
    await expectStatus(admin.get(fileOf(action)), 404);
    expect(
      await systemQuery(service, `select from dws.job_action where id = '${action.action.id}' and file_id is null`),
    ).toHaveLength(1);
  });
});

test('a template that a job renders cannot be deleted', async ({ ann, bob, orders }) => {
  const template = await createRegions(ann, orders.id);
  const action = await createAction(ann, 'render-template', { templateId: template.id, params: { least: 1 } });
  await expectError(ann.delete(template.path), 409, /job "Nightly"/);
  const { body } = await ann.get(`${template.path}/references`);
  expect(body._embedded['svc:reference']).toMatchObject([{ kind: 'job', id: action.job.id }]);
  const draft = (await ann.post(`${action.job.path}/_edit`)).body;
  await expectStatus(ann.delete(action.action.path), 204);
  // The draft still has it.
  await expectError(ann.delete(template.path), 409);
  await expectStatus(ann.delete(`/jobs/${draft.id}`), 204);
  await expectStatus(ann.delete(template.path), 204);
  await expectStatus(bob.get(template.path), 404);
});

test('the draft of a job keeps the template of an action', async ({ ann, orders }) => {
  const [one, two] = [await createRegions(ann, orders.id), await createRegions(ann, orders.id)];
  const action = await createAction(ann, 'render-template', { templateId: one.id, params: { least: 19 } });
  expect(await run(ann, action)).toEqual(SUCCESS);
  const draft = (await ann.post(`${action.job.path}/_edit`)).body;
  const [copy] = (await ann.get(`/jobs/${draft.id}/actions`)).body._embedded['svc:job-action'];
  await expectStatus(
    ann.put(`/jobs/${draft.id}/actions/${copy.id}`, { data: { templateId: two.id, params: { least: 1 } } }),
    200,
  );
  await expectStatus(ann.post(`/jobs/${draft.id}/_commit`), 200);
  await expectStatus(ann.get(fileOf(action)), 404);
  await expectStatus(ann.delete(one.path), 204);
  await expectError(ann.delete(two.path), 409);
});
