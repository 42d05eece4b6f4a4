import { writeFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf, openapiOf } from '../../src/server/graphql/sdl.ts';
import { createApp } from '../app/app-fixture.ts';
import { createAction, run } from '../job/driver-fixture.ts';
import { addAction, addEmail, giveAddresses, putFile, runJob } from '../job/email-fixture.ts';
import { createJob, createNotify, test as base } from '../job/job-fixture.ts';
import { addFile, createLibrary } from '../library/library-fixture.ts';
import { addImage } from '../support/ai-records.ts';
import { recordReads } from '../support/audit-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createRenderable, type TestTemplate } from '../template/render-fixture.ts';

const test = base.extend<{ template: TestTemplate }>({
  template: [
    async ({ ann }, use) => use(await createRenderable(ann, { files: { 'a.njk': 'Hello' } }, { handler: 'text' })),
    { scope: 'file' },
  ],
});

interface World {
  service: Service;
  admin: Client;
  ann: Client;
  orders: { id: string };
  template: TestTemplate;
}

/** A download of a route: its reader, its path and its event. */
interface Sample {
  reader?: Client;
  path: string;
  action: string;
  kind: string | null;
  resourceId: string | null;
}

const JOB_FILE = '/api/jobs/{jobId}/actions/{jobActionId}/action-file-contents';

/** The routes whose responses are downloads in the audit log, with a download of each. */
const DOWNLOADS: Record<string, (world: World) => Promise<Sample>> = {
  '/api/audit/export': async ({ admin }) => ({
    reader: admin,
    path: '/audit/export?format=csv',
    action: 'auditExport',
    kind: null,
    resourceId: null,
  }),
  '/api/datasets/{id}/export': async ({ orders: { id } }) => ({
    path: `/datasets/${id}/export?format=csv`,
    action: 'datasetExport',
    kind: 'dataset',
    resourceId: id,
  }),
  '/api/apps/{id}/files/{path}': async ({ admin }) => {
    const id = await createApp(admin, 'Files', { 'server/x.js': 'export const get = 1' });
    const path = `/apps/${id}/files/server/x.js`;
    return { reader: admin, path, action: 'appFile', kind: 'app', resourceId: id };
  },
  '/api/libraries/{libraryId}/files/{id}/contents': async ({ service, ann }) => {
    const { id } = await createLibrary(ann);
    const file = await addFile(service, id, { path: 'a.txt', content: 'a' });
    return {
      path: `/libraries/${id}/files/${file}/contents`,
      action: 'libraryFile',
      kind: 'library',
      resourceId: id,
    };
  },
  [JOB_FILE]: async ({ ann }) => {
    const job = await createJob(ann);
    const path = `${job.path}/actions/${await createNotify(ann, job, 'Tell')}/action-file-contents`;
    await expectStatus(ann.request('PUT', `/api${path}`, 'a,b', { 'content-type': 'text/csv' }), 200);
    return { path, action: 'jobActionFile', kind: 'job', resourceId: job.id };
  },
  '/api/templates/{templateId}/files/{id}/contents': async ({ template: { path, id } }) => ({
    path: `${path}/files/a.njk/contents`,
    action: 'templateFile',
    kind: 'template',
    resourceId: id,
  }),
  '/api/templates/{id}/renditions/{renditionId}/contents': async ({ ann, template: { path, id } }) => {
    const location = (await ann.post(`${path}/_render`)).headers.get('location')!;
    return {
      path: `${location.replace('/api', '')}/contents`,
      action: 'rendition',
      kind: 'template',
      resourceId: id,
    };
  },
  '/api/images/{id}/contents': async ({ service, ann }) => {
    const { imageId: id } = await addImage(service, ann);
    const [file] = await systemQuery<{ id: string }>(service, 'select file_id as id from dws.image where id = $1', id);
    await writeFile(service.platform.files.path(file!.id), 'x');
    return { path: `/images/${id}/contents`, action: 'image', kind: 'image', resourceId: id };
  },
};

/** Why the responses of the other routes are not downloads of their own. */
const OTHERS: Record<string, string> = {
  '/api/users/{username}/avatar': 'a picture that everybody sees',
  '/api/users/{username}/avatar-full': 'a picture that everybody in the tenant sees',
  '/api/assistants/{id}/icon': 'a picture of pages',
  '/api/assistants/{id}/favicon.ico': 'a picture of pages',
  '/api/datasets/{datasetId}/visuals/{id}/image.svg': 'a chart, which shows rows as the rows of its dataset do',
  '/api/progress/{id}/events': 'a stream of events',
  '/api/jobs/{jobId}/history/{runId}/events': 'a stream of events',
  '/api/apps/{id}/view/{path}': 'a response of an app, which has records of its own',
  '/api/apps/{id}/_hook/{path}': 'a response of an app, which has records of its own',
  '/api/hooks/{token}/{path}': 'a response of an app, which has records of its own',
  '/api/templates/{templateId}/_render': 'a mutation; the document that it sends is a download of a rendition',
};

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>>;
}

test('every route with responses that are not JSON is in the audit log, or is known not to be', async () => {
  const { paths } = openapiOf(endpointsOf(await createSchema())) as unknown as Document;
  const isFile = (operation: Document['paths'][string][string]) =>
    Object.values(operation.responses ?? {}).some(({ content = {} }) =>
      Object.keys(content).some((type) => !type.includes('json')),
    );
  const routes = Object.entries(paths).filter(([, methods]) => Object.values(methods).some(isFile));
  expect(routes.map(([path]) => path).toSorted()).toEqual(Object.keys({ ...DOWNLOADS, ...OTHERS }).toSorted());
});

describe('a download', () => {
  test.for(Object.keys(DOWNLOADS))(
    'of %s is an event, even if it is refused',
    async (route, { service, admin, ann, bob, anonymous, orders, template }) => {
      const sample = await DOWNLOADS[route]!({ service, admin, ann, orders, template });
      const { reader = ann, path, action, kind, resourceId } = sample;
      let bytes = 0;
      const events = await recordReads(service, async () => {
        const response = await fetch(`${reader.url}/api${path}`, { headers: reader.headers });
        expect(response.status).toBe(200);
        bytes = (await response.arrayBuffer()).byteLength;
        const etag = response.headers.get('etag');
        if (etag) await expectStatus(reader.get(path, { 'if-none-match': etag }), 304);
        const { status } = await bob.get(path);
        expect([403, 404]).toContain(status);
        await expectStatus(anonymous.get(path), 401);
      });
      const common = { action, kind, resourceId, channel: 'rest' };
      expect(events).toMatchObject([
        { ...common, username: reader.username, outcome: 'succeeded', bytes },
        { ...common, username: 'bob', outcome: 'denied', bytes: null, rows: null },
      ]);
      expect(bytes).toBeGreaterThan(0);
    },
  );

  test('of a rendering is an event of the document', async ({ service, ann, template }) => {
    const events = await recordReads(service, () => expectStatus(ann.post(`${template.path}/_render`), 200));
    expect(events).toMatchObject([{ action: 'rendition', resourceId: template.id, outcome: 'succeeded', bytes: 5 }]);
  });
});

describe('a file that a job creates', () => {
  const common = { channel: 'job', outcome: 'succeeded', username: 'ann' };

  test('is an event of its owner: an export, and a document', async ({ service, ann, orders, template }) => {
    const data = { datasetId: orders.id, format: 'csv', filename: 'Orders' };
    const exported = await createAction(ann, 'export', data);
    const rendered = await createAction(ann, 'render-template', { templateId: template.id });
    const events = await recordReads(service, async () => {
      for (const action of [exported, rendered]) expect(await run(ann, action)).toMatchObject({ success: true });
    });
    expect(events).toEqual([
      {
        ...common,
        action: 'datasetExport',
        kind: 'dataset',
        resourceId: orders.id,
        parameters: ['format', 'filename'],
        rows: 20,
        bytes: expect.any(Number),
      },
      {
        ...common,
        action: 'renderTemplate',
        kind: 'template',
        resourceId: template.id,
        parameters: [],
        rows: null,
        bytes: 5,
      },
    ]);
  });

  test('is an event when a mail takes it along, whenever it was created', async ({
    service,
    ann,
    bob,
    orders,
    template,
  }) => {
    await giveAddresses(ann, bob);
    const stored = await createJob(ann);
    const uploaded = await createNotify(ann, stored, 'Tell');
    await putFile(ann, stored, uploaded, { content: 'a,b', filename: 'a.csv', type: 'text/csv' });
    await addEmail(ann, stored, { recipients: ['bob', 'x@y.example'], attach: [uploaded] });
    const fresh = await createJob(ann);
    const exported = await addAction(ann, fresh, 'export', { datasetId: orders.id, format: 'csv' });
    const rendered = await addAction(ann, fresh, 'render-template', { templateId: template.id });
    await addEmail(ann, fresh, { recipients: ['bob'], attach: [exported, rendered] });
    const mailed = { ...common, action: 'jobActionFile', kind: 'job', parameters: ['jobActionId'], rows: null };
    const ofStored = { ...mailed, resourceId: stored.id, bytes: 3 };
    for (let n = 0; n < 2; n++) expect(await recordReads(service, () => runJob(ann, stored))).toEqual([ofStored]);
    const bytes = expect.any(Number);
    expect(await recordReads(service, () => runJob(ann, fresh))).toEqual([
      {
        ...common,
        action: 'datasetExport',
        kind: 'dataset',
        resourceId: orders.id,
        parameters: ['format'],
        rows: 20,
        bytes,
      },
      {
        ...common,
        action: 'renderTemplate',
        kind: 'template',
        resourceId: template.id,
        parameters: [],
        rows: null,
        bytes: 5,
      },
      { ...mailed, resourceId: fresh.id, bytes },
      { ...mailed, resourceId: fresh.id, bytes: 5 },
    ]);
  });

  test('creates no event for a mail that has no recipients', async ({ service, ann, bob }) => {
    await giveAddresses(ann);
    await expectStatus(bob.put('/me', { email: null }), 200);
    const job = await createJob(ann);
    const file = await createNotify(ann, job, 'Tell');
    await putFile(ann, job, file, { content: 'a,b', filename: 'a.csv', type: 'text/csv' });
    await addEmail(ann, job, { recipients: ['bob'], attach: [file] });
    expect(await recordReads(service, () => runJob(ann, job))).toEqual([]);
  });

  test('for each recipient of a mail is an event of its owner', async ({ service, ann, bob, orders, restrictBob }) => {
    await giveAddresses(ann, bob);
    await restrictBob({ region: 'EU' });
    const job = await createJob(ann);
    const attach = [await addAction(ann, job, 'export', { datasetId: orders.id, format: 'csv' })];
    await addEmail(ann, job, { recipients: ['ann', 'bob'], attach, runAs: 'recipient' });
    const events = await recordReads(service, () => runJob(ann, job));
    const ofOrders = { ...common, action: 'datasetExport', resourceId: orders.id };
    expect(events.map(({ rows }) => rows).toSorted()).toEqual([20, 20, 5]);
    expect(events).toMatchObject([ofOrders, ofOrders, ofOrders]);
  });
});
