import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

describe('a tag', () => {
  test('can be created and read by all users, and changed by its creator and superusers', async ({
    admin,
    ann,
    bob,
    stranger,
  }) => {
    const created = await ann.post('/tags', { name: '  Finance ', color: '#00FF7f', description: 'Money' });
    await expectBody(created, 201, {
      name: 'Finance',
      color: '#00FF7f',
      description: 'Money',
      creatorId: ann.id,
      createdAt: expect.any(String),
      permissions: { read: true, edit: true, delete: true },
    });
    const path = `/tags/${created.body.id}`;
    expect(created.headers.get('location')).toBe(`/api${path}`);
    await expectBody(bob.get(path), 200, { name: 'Finance', permissions: { read: true, edit: false, delete: false } });
    expect((await bob.get(`${path}/permissions`)).body).toEqual({ read: true, edit: false, delete: false });
    await expectError(bob.put(path, { name: 'Mine' }), 403, 'You lack the permission tag:edit');
    await expectError(bob.delete(path), 403, 'You lack the permission tag:delete');
    expect(await bob.gql(`mutation { deleteTag(id: "${created.body.id}") }`)).toMatchObject({
      errors: [{ message: 'You lack the permission tag:delete' }],
    });
    for (const method of ['get', 'delete'] as const)
      await expectError(stranger[method](path), 404, `There is no tag ${created.body.id}`);

    await expectBody(ann.put(path, { color: null, description: null }), 200, {
      name: 'Finance',
      color: null,
      description: null,
    });
    await expectBody(admin.put(path, { name: 'finance' }), 200, { name: 'finance', creatorId: ann.id });
    expect(await admin.put(path, (await admin.get(path)).body)).toMatchObject({ status: 200 });
    expect(await ann.delete(path, { 'if-match': 'W/"1"' })).toMatchObject({ status: 412 });
    expect(await ann.delete(path)).toMatchObject({ status: 204 });
    expect(await ann.get(path)).toMatchObject({ status: 404 });
  });

  test('has a unique name ignoring case, and a valid colour', async ({ ann, bob, stranger }) => {
    const { id } = await ann.creates('/tags', { name: 'Ünique' });
    await expectBody(bob.post('/tags', { name: 'üNIQUE' }), 409, {
      message: 'The tag "üNIQUE" already exists',
      code: 'CONFLICT',
    });
    expect(
      (await Promise.all(Array.from({ length: 4 }, () => bob.post('/tags', { name: 'Race' }))))
        .map(({ status }) => status)
        .toSorted(),
    ).toEqual([201, 409, 409, 409]);
    const other = await ann.creates('/tags', { name: 'Other' });
    expect(await ann.put(`/tags/${other.id}`, { name: 'UNIQUE'.replace('U', 'Ü') })).toMatchObject({ status: 409 });
    expect(await stranger.post('/tags', { name: 'Ünique' })).toMatchObject({ status: 201 });

    for (const name of ['', ' ', 'x'.repeat(101), UNKNOWN_ID, 'a\u0000b', null])
      expect(await ann.post('/tags', { name })).toMatchObject({ status: 400 });
    for (const color of ['#ff', '#12345', '#gggggg', 'url(x)', 'dark red'])
      await expectError(ann.put(`/tags/${id}`, { color }), 400, 'color must be #rgb, #rrggbb or a CSS colour name');
    for (const color of ['#F0a', '#ff00AA', 'rebeccapurple'])
      await expectBody(ann.put(`/tags/${id}`, { color }), 200, { color });
    expect(await ann.put(`/tags/${id}`, { name: null })).toMatchObject({ status: 400 });
  });

  test('is listed with search, order and limit in both APIs', async ({ service }) => {
    const carl = await service.user('carl', { tenant: 'other', permissions: [] });
    for (const name of ['zeta', 'Beta', 'alphabet']) await carl.creates('/tags', { name });
    expect((await carl.get('/tags?q=BET')).body).toMatchObject({
      total: 2,
      _embedded: { 'svc:tag': [{ name: 'alphabet' }, { name: 'Beta' }] },
    });
    expect((await carl.get('/tags?q=eta&sort=-name&limit=1')).body).toMatchObject({
      count: 1,
      total: 2,
      _embedded: { 'svc:tag': [{ name: 'zeta' }] },
      _links: { next: { href: expect.stringContaining('start=1') } },
    });
    expect(
      (await carl.data('{ tags(q: "bet", sort: "-createdAt") { items { name color creatorId } total } }')).tags,
    ).toEqual({
      items: [
        { name: 'alphabet', color: null, creatorId: carl.id },
        { name: 'Beta', color: null, creatorId: carl.id },
      ],
      total: 2,
    });
    const gamma = (
      await carl.data(
        'mutation { createTag(input: { name: "Gamma", color: "gold" }) { id name color permissions { delete } } }',
      )
    ).createTag;
    expect(gamma).toEqual({ id: gamma.id, name: 'Gamma', color: 'gold', permissions: { delete: true } });
    expect(
      await carl.data(`mutation { updateTag(id: "${gamma.id}", input: { description: "third" }) { description } }`),
    ).toEqual({ updateTag: { description: 'third' } });
    expect(await carl.data(`{ tag(id: "${gamma.id}") { name } node(id: "${gamma.id}") { __typename } }`)).toEqual({
      tag: { name: 'Gamma' },
      node: { __typename: 'Tag' },
    });
    expect(await carl.data(`mutation { deleteTag(id: "${gamma.id}") }`)).toEqual({ deleteTag: gamma.id });
  });
});
