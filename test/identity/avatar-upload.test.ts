import { describe, expect } from 'vitest';
import { sweepAvatarParts, sweepFiles } from '../../src/operations/janitor.ts';
import { getPicture, pictureForm, splitInto, uploadPart } from '../support/avatar-fixture.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { BLUE, colorAt, nameOf, pngOf, RED } from '../support/picture-files.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { storedFiles } from '../support/upload-form.ts';

// Each picture is read in a process of its own.
const PNG = await pngOf(RED, 300, 200);
const OTHER = await pngOf(BLUE, 300, 200);
const numbers = (chunk: number, chunks: number) => ({ chunk: String(chunk), chunks: String(chunks) });
const flow = (number: number, total: number) => ({ flowChunkNumber: String(number), flowTotalChunks: String(total) });

const colorOf = async (client: Parameters<typeof getPicture>[0], username: string) =>
  nameOf(await colorAt((await getPicture(client, `/users/${username}/avatar`)).bytes, 128, 128));

describe('an avatar in parts', () => {
  test('is set when all parts are there, in any order', async ({ ann }) => {
    const parts = splitInto(PNG, 3);
    const state = { uploadId: 'my upload', total: 3 };
    const send = (chunk: number) => uploadPart(ann, 'ann', 'my upload', parts[chunk]!, numbers(chunk, 3));
    const incomplete = { complete: false, avatarUrl: null };
    expect((await send(2)).body).toEqual({ ...state, received: 1, ...incomplete });
    expect((await send(0)).body).toEqual({ ...state, received: 2, ...incomplete });
    expect((await ann.get('/me')).body.avatarUrl).not.toContain('?');
    const { body } = await send(1);
    expect(body).toEqual({ ...state, received: 3, complete: true, avatarUrl: expect.stringContaining('?t=') });
    expect((await ann.get('/me')).body.avatarUrl).toBe(body.avatarUrl);
    expect((await getPicture(ann, '/users/ann/avatar-full')).bytes).toEqual(PNG);
  });

  test('can be sent as Flow.js does, with its further texts, and with the numbers after the file', async ({ ann }) => {
    const [first, second] = splitInto(OTHER, 2);
    const further = { flowChunkSize: '9', flowIdentifier: 'a', flowFilename: 'a.png', flowRelativePath: 'a.png' };
    await expectBody(uploadPart(ann, 'ann', 'flow', second!, { ...flow(2, 2), ...further }), 200, { received: 1 });
    const form = pictureForm(first!, { after: { ...flow(1, 2), ...further } });
    await expectBody(ann.post('/users/ann/_upload/flow/avatar-upload', form), 200, { received: 2, complete: true });
    expect(await colorOf(ann, 'ann')).toBe('blue');
  });

  test('can be sent by GraphQL too, as parts of the same upload', async ({ ann }) => {
    const [first, second] = splitInto(PNG, 2);
    const mutation = `mutation ($file: FileContent!, $chunk: Int!) {
      uploadAvatarPart(username: "ann", uploadId: "both", input: { file: $file, chunk: $chunk, chunks: 2 }) {
        uploadId received total complete avatarUrl
      }
    }`;
    const { uploadAvatarPart } = await ann.data(mutation, { file: first!.toString('base64'), chunk: 0 });
    expect(uploadAvatarPart).toEqual({ uploadId: 'both', received: 1, total: 2, complete: false, avatarUrl: null });
    await expectBody(uploadPart(ann, 'ann', 'both', second!, numbers(1, 2)), 200, { received: 2, complete: true });
    expect(await colorOf(ann, 'ann')).toBe('red');
  });

  test('replaces a part that comes again', async ({ ann }) => {
    const [first, second] = splitInto(OTHER, 2);
    const send = (part: Buffer | string, chunk: number) => uploadPart(ann, 'ann', 'again', part, numbers(chunk, 2));
    await expectBody(send('wrong', 0), 200, { received: 1 });
    await expectBody(send(first!, 0), 200, { received: 1, complete: false });
    await expectBody(send(second!, 1), 200, { received: 2, complete: true });
    expect((await getPicture(ann, '/users/ann/avatar-full')).bytes).toEqual(OTHER);
  });

  test('can all be sent concurrently', async ({ service, ann }) => {
    const responses = await Promise.all(
      splitInto(PNG, 8).map((part, chunk) => uploadPart(ann, 'ann', 'parallel', part, numbers(chunk, 8))),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(responses.map(({ body }) => body.received).toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(responses.filter(({ body }) => body.complete)).toHaveLength(1);
    expect((await getPicture(ann, '/users/ann/avatar-full')).bytes).toEqual(PNG);
    expect(await systemQuery(service, 'select from dws.avatar_upload_part')).toEqual([]);
  });

  test('takes few round trips, even if it is complete', async ({ ann }) => {
    const [first, second] = splitInto(PNG, 2);
    const send = (part: Buffer, chunk: number) => () => uploadPart(ann, 'ann', 'trips', part, numbers(chunk, 2));
    const trips = [await recordRoundTrips(send(first!, 0)), await recordRoundTrips(send(second!, 1))];
    expect(trips.map(({ length }) => length)).toEqual([2, 4]);
  });

  test('crosses processes', async ({ service, ann }) => {
    const { DATA_DIR, APP_SECRET } = service.platform.config;
    const peer = await startService(
      { DATA_DIR, APP_SECRET: APP_SECRET!, ROLE: 'web' },
      { databaseUrl: service.databaseUrl },
    );
    try {
      const annThere = Object.assign(ann.with({}), { url: peer.url });
      const [first, second] = splitInto(OTHER, 2);
      await expectBody(uploadPart(ann, 'ann', 'crossing', first!, numbers(0, 2)), 200, { received: 1 });
      await expectBody(uploadPart(annThere, 'ann', 'crossing', second!, numbers(1, 2)), 200, { complete: true });
      expect((await getPicture(ann, '/users/ann/avatar-full')).bytes).toEqual(OTHER);
    } finally {
      await peer.close();
    }
  });
});

describe('uploads in parts do not mix', () => {
  test('of several ids, uploaders and users', async ({ service, ann, admin }) => {
    const cleo = await service.user('cleo');
    const [red0, red1] = splitInto(PNG, 2);
    const [blue0, blue1] = splitInto(OTHER, 2);
    await expectBody(uploadPart(cleo, 'cleo', 'x', red0!, numbers(0, 2)), 200, { received: 1 });
    await expectBody(uploadPart(cleo, 'cleo', 'y', blue0!, numbers(0, 2)), 200, { received: 1 });
    await expectBody(uploadPart(admin, 'cleo', 'x', blue0!, numbers(0, 2)), 200, { received: 1 });
    await expectBody(uploadPart(admin, 'ann', 'x', red0!, numbers(0, 2)), 200, { received: 1 });
    // The upload of another user is refused.
    await expectError(uploadPart(ann, 'cleo', 'x', blue1!, numbers(1, 2)), 403);
    await expectBody(uploadPart(admin, cleo.id, 'x', blue1!, numbers(1, 2)), 200, { received: 2, complete: true });
    expect(await colorOf(ann, 'cleo')).toBe('blue');
    await expectBody(uploadPart(cleo, 'cleo', 'x', red1!, numbers(1, 2)), 200, { received: 2, complete: true });
    expect(await colorOf(ann, 'cleo')).toBe('red');
    await expectBody(uploadPart(cleo, 'cleo', 'y', blue1!, numbers(1, 2)), 200, { received: 2, complete: true });
    expect(await colorOf(ann, 'cleo')).toBe('blue');
    await expectBody(uploadPart(admin, 'ann', 'x', red1!, numbers(1, 2)), 200, { received: 2, complete: true });
  });
});

test('a part without numbers is the only one', async ({ ann, service }) => {
  const solo = await service.user('solo');
  await expectBody(uploadPart(solo, 'solo', 'single', OTHER, {}), 200, { received: 1, total: 1, complete: true });
  expect(await colorOf(ann, 'solo')).toBe('blue');
});

describe('a part is refused', () => {
  test('with wrong numbers, which are named', async ({ service, bob }) => {
    const send = (texts: Record<string, string>) => uploadPart(bob, 'bob', 'wrong', 'part', texts);
    await expectInvalid(send({ chunk: '0' }), 'chunks', 'chunks is required');
    await expectInvalid(send({ chunks: '2' }), 'chunk', 'chunk is required');
    await expectInvalid(send(numbers(2, 2)), 'chunk', 'chunk must be a whole number from 0 to 1');
    await expectInvalid(send(numbers(-1, 2)), 'chunk', 'chunk must be a whole number from 0 to 1');
    await expectInvalid(send(numbers(0, 0)), 'chunks', 'chunks must be a whole number from 1 to 100');
    await expectInvalid(send(numbers(0, 101)), 'chunks', 'chunks must be a whole number from 1 to 100');
    await expectInvalid(send(flow(0, 2)), 'flowChunkNumber', 'flowChunkNumber must be a whole number from 1 to 2');
    await expectInvalid(send(flow(3, 2)), 'flowChunkNumber', 'flowChunkNumber must be a whole number from 1 to 2');
    await expectInvalid(send({ flowChunkNumber: '1' }), 'flowTotalChunks', 'flowTotalChunks is required');
    for (const chunk of ['x', '1.5', '0x1'])
      await expectError(send({ chunk, chunks: '2' }), 400, '"chunk" must be an integer');
    await expectError(send({ chunk: '99999999999', chunks: '2' }), 400, 'chunk must be at most 2147483647');
    await expectError(send({ ...numbers(0, 2), surprise: '1' }), 400, /surprise/);
    await expectError(uploadPart(bob, 'bob', 'x'.repeat(201), 'part', numbers(0, 2)), 400, /uploadId/);
    expect(await systemQuery(service, 'select from dws.avatar_upload_part where uploader_id = $1', bob.id)).toEqual([]);
    expect(storedFiles(service).length).toBe((await systemQuery(service, 'select from dws.stored_file')).length);
  });

  test('without bytes, so that no file is free of the quota', async ({ service, bob }) => {
    const before = storedFiles(service);
    await expectInvalid(uploadPart(bob, 'bob', 'empty', '', numbers(0, 2)), 'file', 'file must not be empty');
    const mutation = `mutation {
      uploadAvatarPart(username: "bob", uploadId: "empty", input: { file: "", chunk: 0, chunks: 2 }) { received }
    }`;
    await expectGraphqlError(bob.gql(mutation), 'BAD_USER_INPUT', 'file must not be empty');
    expect(await systemQuery(service, `select from dws.avatar_upload_part where upload_id = 'empty'`)).toEqual([]);
    expect(storedFiles(service)).toEqual(before);
  });

  test('with another total than the former parts', async ({ bob }) => {
    await expectBody(uploadPart(bob, 'bob', 'total', 'part', numbers(0, 3)), 200, { received: 1 });
    const message = (key: string) => `${key} must be 3, as in the former parts of the upload`;
    await expectInvalid(uploadPart(bob, 'bob', 'total', 'part', numbers(1, 4)), 'chunks', message('chunks'));
    const byFlow = uploadPart(bob, 'bob', 'total', 'part', flow(2, 2));
    await expectInvalid(byFlow, 'flowTotalChunks', message('flowTotalChunks'));
    await expectBody(uploadPart(bob, 'bob', 'total', 'part', numbers(1, 3)), 200, { received: 2 });
  });

  test('if all parts have more than 5 MB', async ({ service, bob }) => {
    const send = (chunk: number, bytes: number) =>
      uploadPart(bob, 'bob', 'sum', Buffer.alloc(bytes), numbers(chunk, 3));
    await expectBody(send(0, 4_000_000), 200, { received: 1 });
    const message = 'The parts have 5000001 bytes, more than the maximum of 5000000';
    await expectError(send(1, 1_000_001), 413, message);
    await expectBody(send(1, 1_000_000), 200, { received: 2 });
    expect((await bob.get('/me')).body.avatarUrl).not.toContain('?');
    expect(storedFiles(service).length).toBe((await systemQuery(service, 'select from dws.stored_file')).length);
  });

  test('if the picture is, and the upload begins again', async ({ service, bob }) => {
    const send = (part: Buffer | string, chunk: number) => uploadPart(bob, 'bob', 'bad', part, numbers(chunk, 2));
    await expectBody(send('no picture', 0), 200, { received: 1 });
    await expectError(send('at all', 1), 400, /not a picture/);
    expect(await systemQuery(service, `select from dws.avatar_upload_part where upload_id = 'bad'`)).toEqual([]);
    const [first, second] = splitInto(PNG, 2);
    await expectBody(send(first!, 0), 200, { received: 1 });
    await expectBody(send(second!, 1), 200, { complete: true });
  });
});

test('a user has at most 20 unfinished uploads: further ones replace the oldest', async ({ service }) => {
  const dora = await service.user('dora');
  for (let n = 0; n < 21; n++) await expectStatus(uploadPart(dora, 'dora', `upload ${n}`, 'part', numbers(0, 2)), 200);
  const rows = await systemQuery(
    service,
    `select upload_id as id from dws.avatar_upload_part where uploader_id = $1 order by created_at`,
    dora.id,
  );
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, n) => `upload ${n + 1}`));
});

test('the janitor deletes parts after 24 hours', async ({ service }) => {
  const finn = await service.user('finn');
  const send = (uploadId: string) => uploadPart(finn, 'finn', uploadId, 'part', numbers(0, 2));
  await expectStatus(send('old'), 200);
  await expectStatus(send('new'), 200);
  const age = (hours: number) =>
    systemQuery(
      service,
      `update dws.avatar_upload_part set created_at = now() - $1 * interval '1 hour' where upload_id = 'old'`,
      hours,
    );
  const uploads = async () => {
    await sweepAvatarParts((statement) => service.platform.system.query(statement));
    const rows = await systemQuery(
      service,
      `select upload_id as id from dws.avatar_upload_part where uploader_id = $1 order by upload_id`,
      finn.id,
    );
    return rows.map(({ id }) => id);
  };
  await age(23.9);
  expect(await uploads()).toEqual(['new', 'old']);
  await age(24.1);
  expect(await uploads()).toEqual(['new']);
  await sweepFiles(service.platform, 0);
  expect(storedFiles(service).length).toBe((await systemQuery(service, 'select from dws.stored_file')).length);
});
