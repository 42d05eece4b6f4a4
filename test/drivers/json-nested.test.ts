import { expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

test.each([
  ['{"status":"ok","count":2,"results":[{"a":1},{"a":2}]}', 'results'],
  ['{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"n":1}}]}\n', 'features'],
  ['{"meta":{"n":2},"errors":[],"few":[{"b":1}],"data":{"items":[{"a":1},{"a":2}]}}', 'data.items'],
  ['[{"results":[{"a":1},{"a":2}]}]', '0.results'],
  ['{"a.b":[{"x":1},{"x":2}],"c":[{"x":1}]}', 'c'],
])('%s is one row, and its problem names the path %s', async (content, path) => {
  const { rows, problems, config } = await readInProcess(content, {}, 'x.json');
  expect(rows).toHaveLength(1);
  const message = `The file is read as one row, but has an array of objects. Set path to ${JSON.stringify(path)} to read it`;
  expect(problems).toEqual([{ message }]);
  expect((await readInProcess(content, config, 'x.json')).problems).toEqual([]);
  expect((await readInProcess(content, { path }, 'x.json')).problems).toEqual([]);
});

test.each([
  '{"a":1,"b":[1,2],"c":{"d":[]}}',
  '{"a":[{"b":1},2]}',
  '{"a":[{"b":1}]}\n{"a":[{"b":2}]}\n',
  '[{"a":[{"b":1}]},{"a":[]}]',
])('%s has no such problem', async (content) => {
  expect((await readInProcess(content, {}, 'x.json')).problems).toEqual([]);
});

test('a document in several lines is refused with its path', async () => {
  await expect(readInProcess('{\n"count":2,\n"results":[{"a":1}]}', {}, 'x.json')).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/set config\.path to "results"$/),
  });
});
