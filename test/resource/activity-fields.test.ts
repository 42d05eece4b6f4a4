import { describe, expect } from 'vitest';
import { FIXTURES, namesOf, OWNED_PATHS } from '../conformance/fixtures.ts';
import { readStoredActivities } from '../support/activity.ts';
import { test } from '../support/fixture.ts';

describe.each(OWNED_PATHS)('the activity of one of the %s', (kind) => {
  const { word } = namesOf(kind);

  test('contains one event for each aspect of a single change', async ({ admin, ann, service }) => {
    const [tag, folder] = [
      await admin.creates('/tags', { name: `single ${kind}` }),
      await admin.creates('/folders', { name: `Single ${kind}` }),
    ];
    const id = await FIXTURES[kind]!.create(admin, `single ${kind}`);
    await admin.put(`/${kind}/${id}`, {
      name: 'Single',
      slug: `single-${kind}-2`,
      tags: [tag.id],
      folderId: folder.id,
      ownerId: 'ann',
    });
    const stored = (await readStoredActivities(service, id)).slice(1);
    expect(stored.map((activity) => activity.type).toSorted()).toEqual([
      `${word}.folder.moved`,
      `${word}.owner.changed`,
      `${word}.tagged`,
      `${word}.updated`,
    ]);
    expect(stored.every(({ name, owner }) => name === 'Single' && owner === `user:${ann.id}`)).toBe(true);
    expect(stored.find((activity) => activity.type === `${word}.updated`)).toMatchObject({
      data: { fields: ['name', 'slug'] },
      message: 'admin changed name and slug of Single',
    });
  });
});

test('files of a template and the commit of its draft are activities, changes of the draft are not', async ({
  admin,
  service,
}) => {
  const id = await FIXTURES['templates']!.create(admin, 'Letter');
  const expectSuccess = async (response: Promise<{ status: number }>) =>
    expect((await response).status).toBeLessThan(300);
  const { id: fileId } = await admin.creates(`/templates/${id}/files`, { filename: 'a.njk', role: 'TEMPLATE' });
  const { id: logo } = await admin.creates(`/templates/${id}/files`, { filename: 'logo.png', role: 'ASSET' });
  await expectSuccess(admin.put(`/templates/${id}/files/${logo}`, { filename: 'brand.png' }));
  await expectSuccess(admin.put(`/templates/${id}/files/${logo}`, { filename: 'brand.png' }));
  await expectSuccess(admin.delete(`/templates/${id}/files/${logo}`));
  const { body: draft } = await admin.post(`/templates/${id}/_edit`);
  await expectSuccess(admin.put(`/templates/${draft.id}`, { name: 'Done' }));
  await expectSuccess(admin.post(`/templates/${draft.id}/files`, { filename: 'b.png', role: 'ASSET' }));
  await expectSuccess(admin.post(`/templates/${id}/draft/_commit`));
  const files = (file: string, filename: string) => ({ fields: ['files'], fileId: file, filename });
  expect((await readStoredActivities(service, id)).map(({ type, message, data }) => [type, message, data])).toEqual([
    ['template.created', 'admin created Letter', {}],
    ['template.updated', 'admin added the file a.njk to Letter', files(fileId, 'a.njk')],
    ['template.updated', 'admin added the file logo.png to Letter', files(logo, 'logo.png')],
    ['template.updated', 'admin changed the file brand.png of Letter', files(logo, 'brand.png')],
    ['template.updated', 'admin took the file brand.png out of Letter', files(logo, 'brand.png')],
    ['template.updated', 'admin committed a draft of Done', { fields: ['name', 'files'] }],
  ]);
  expect(await readStoredActivities(service, draft.id)).toEqual([]);
});
