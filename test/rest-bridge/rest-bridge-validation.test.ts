import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { startTestBridge, type TestBridge } from './fixture.ts';

type Issue = [path: (string | number)[], message: string, code: string];

describe.each([{ jit: false }, { jit: true }])('validation of the bridge (jit: $jit)', ({ jit }) => {
  let bridge: TestBridge;
  beforeAll(async () => {
    bridge = await startTestBridge({ jit });
  });
  afterAll(() => bridge.app.close());

  const call: TestBridge['call'] = (...request) => bridge.call(...request);
  const get = (url: string) => call('GET', url);
  const postJson = (url: string, text: string, contentType = 'application/json') =>
    call('POST', url, text, { 'content-type': contentType });

  /** Expects 400 with exactly these issues, and the message of the first one. */
  async function expectIssues(response: ReturnType<typeof call>, ...issues: Issue[]): Promise<void> {
    const { status, body } = await response;
    expect({ status, message: body.message, validation: body.validation }).toEqual({
      status: 400,
      message: issues[0]![1],
      validation: issues.map(([path, message, code]) => ({ path, message, code })),
    });
  }

  test('unknown keys are named, in query and body', async () => {
    await expectIssues(get('/datasets?limitt=3'), [['limitt'], 'Unknown query parameter "limitt"', 'unknown']);
    await expectIssues(
      call('POST', '/datasets', { name: 'x', nmae: 1, colour: 2 }),
      [['nmae'], 'Unknown key "nmae"', 'unknown'],
      [['colour'], 'Unknown key "colour"', 'unknown'],
    );
    await expectIssues(call('PUT', '/datasets/1', { nmae: 1 }), [['nmae'], 'Unknown key "nmae"', 'unknown']);
    await expectIssues(call('POST', '/datasets/1/visuals', { component: 'table', parts: [{ siez: 2 }] }), [
      ['parts', 0, 'siez'],
      'Unknown key "siez"',
      'unknown',
    ]);
    await expectError(call('DELETE', '/datasets/1', { force: true }), 400, 'Unknown key "force"');
    await expectError(call('POST', '/datasets/1/_refresh', { wait: false }), 400, 'Unknown key "wait"');
  });

  test('a body may repeat a path parameter with the same value only', async () => {
    const visual = { component: 'table' };
    expect((await call('POST', '/datasets/1/visuals', { ...visual, datasetId: '1' })).status).toBe(201);
    await expectError(
      call('POST', '/datasets/1/visuals', { ...visual, datasetId: '2' }),
      400,
      '"datasetId" must equal the value in the path',
    );
  });

  test('missing and invalid values are all named', async () => {
    await expectIssues(call('POST', '/datasets', {}), [['name'], '"name" is required', 'required']);
    await expectIssues(
      call('POST', '/datasets', { description: 5 }),
      [['name'], '"name" is required', 'required'],
      [['description'], '"description" must be a text', 'invalid'],
    );
    await expectIssues(call('POST', '/datasets/1/visuals', { component: 'BAR_CHART' }), [
      ['component'],
      '"component" cannot be "BAR_CHART"',
      'invalid',
    ]);
    await expectIssues(get('/need'), [['word'], '"word" is required', 'required']);
    await expectError(get('/echo?at=yesterday'), 400, '"at": "yesterday" is not an ISO 8601 timestamp');
  });

  test('a body that is required cannot be left out, even if all its keys may be', async () => {
    await expectIssues(call('PUT', '/datasets/1'), [[], '"body" is required', 'required']);
    expect((await call('PUT', '/datasets/1', {})).status).toBe(200);
    expect((await call('POST', '/datasets/1/_refresh')).status).toBe(200);
  });

  test('values of a body are not coerced: no item in place of a list, no number in place of an id', async () => {
    const visual = { component: 'table' };
    await expectIssues(call('POST', '/datasets/1/visuals', { ...visual, parts: { size: 2 } }), [
      ['parts'],
      '"parts" must be a list',
      'invalid',
    ]);
    await expectIssues(call('POST', '/datasets/1/visuals', { ...visual, parts: [[]] }), [
      ['parts', 0],
      '"parts.0" must be an object',
      'invalid',
    ]);
    await expectIssues(
      call('POST', '/datasets/1/visuals', { ...visual, tagIds: ['a', 0, 7] }),
      [['tagIds', 1], '"tagIds.1" must be a text', 'invalid'],
      [['tagIds', 2], '"tagIds.2" must be a text', 'invalid'],
    );
    expect((await call('POST', '/datasets/1/visuals', { ...visual, tagIds: [], parts: null })).status).toBe(201);
  });

  test('query values are parsed by the type of their argument', async () => {
    expect(
      (await get('/echo?number=-3&ratio=2.5&on=false&ids=a,b&component=table&where=%7B%22a%22%3A1%7D')).body,
    ).toEqual({ n: -3, ratio: 2.5, on: false, ids: ['a', 'b'], component: 'table', where: { a: 1 } });
    expect((await get('/echo?ids=a&ids=b&where=saved-1')).body).toEqual({ ids: ['a', 'b'], where: 'saved-1' });
    expect((await get('/echo?ids=')).body).toEqual({ ids: [] });
  });

  test.for([
    ['number=3.5', '"number" must be an integer'],
    ['number=', '"number" must be an integer'],
    ['number=9999999999', 'number must be at most 2147483647'],
    [`number=-${'9'.repeat(400)}`, 'number must be at least -2147483648'],
    ['number=-9999999999', 'number must be at least -2147483648'],
    ['ratio=Infinity', '"ratio" must be a number'],
    ['on=yes', '"on" must be true or false'],
    ['component=pie', '"component" must be one of bar-chart, table'],
    ['where={"a"', '"where" is not well-formed JSON'],
    ['number=1&number=2', '"number" is given more than once'],
    ['n=1', 'Unknown query parameter "n"'],
  ] as const)('the query %s is refused', async ([query, message]) => {
    await expectError(get(`/echo?${query}`), 400, message);
  });

  test('a body is a JSON object in UTF-8, of limited size and depth', async () => {
    const nested = `{"a":${'['.repeat(300)}${']'.repeat(300)}}`;
    const large = JSON.stringify({ name: 'x'.repeat(11e6) });
    await expectError(postJson('/datasets', '{"name":'), 400, /The body is not well-formed JSON/);
    await expectError(postJson('/datasets', '[1]'), 400, 'The body must be a JSON object');
    await expectError(postJson('/datasets', 'null'), 400, 'The body must be a JSON object');
    await expectError(postJson('/datasets', ''), 400, '"body" is required');
    await expectError(
      postJson('/datasets', '{"__proto__": {"x": 1}}'),
      400,
      'The body may not contain the key "__proto__"',
    );
    await expectError(postJson('/field-access', nested), 400, 'The body nests deeper than 256 levels');
    await expectBody(postJson('/datasets', large), 413, { statusCode: 413, code: 'PAYLOAD_TOO_LARGE' });
    await expectBody(postJson('/datasets', 'name=x', 'application/x-www-form-urlencoded'), 415, {
      statusCode: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    });
    await expectBody(postJson('/datasets', '{"name":"x"}', 'application/json; charset=latin1'), 415, {
      statusCode: 415,
    });
    await expectBody(postJson('/datasets', '{"name":"é"}', 'application/hal+json; charset=UTF-8'), 201, {
      name: 'é',
    });
  });
});
