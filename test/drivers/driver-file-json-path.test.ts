import { describe, expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

describe('the path of a table in a JSON document', () => {
  const document = JSON.stringify({
    meta: { items: [1], next: 'x"items":[2]', list: [[], [{ late: 1 }]] },
    'resu"lt': {
      total: 2,
      other: { items: [3] },
      items: [
        { a: 1, b: ']' },
        { a: 2, b: '\\"' },
      ],
      data: [4],
    },
  });
  const rows = [
    [1, ']'],
    [2, '\\"'],
  ];

  test('keys lead to the array of objects', async () => {
    const read = await readInProcess(document, { path: 'resu"lt.items' }, 'x.json');
    expect(read).toMatchObject({
      config: { format: 'json', path: 'resu"lt.items' },
      types: ['a integer', 'b string'],
      rows,
    });
    expect(await readInProcess(document, { path: 'meta.list.1' }, 'x.json')).toMatchObject({ rows: [[1]] });
    const wide = Buffer.from(`\ufeff{"x": ${document}, "é": [{"ü": "日本"}]}`, 'utf16le');
    expect(await readInProcess(wide, { path: 'x.resu"lt.items' }, 'x')).toMatchObject({ rows });
    expect(await readInProcess(wide, { path: 'é' }, 'x')).toMatchObject({ types: ['ü string'], rows: [['日本']] });
  });

  test('a long array is read in full', async () => {
    const items = Array.from({ length: 200_000 }, (_, id) => ({ id, text: `item ${id}` }));
    const { config } = await readInProcess(JSON.stringify({ data: items, end: [{}] }), { path: 'data' }, 'x.json');
    expect(config).toMatchObject({ columns: [{ name: 'id', type: 'BIGINT' }, { name: 'text' }] });
  });

  test.each([
    ['items', 'the document has no array at "items"'],
    ['resu"lt.total', 'the document has no array at "resu\\"lt.total"'],
    ['meta.items.0', 'the document has no array at "meta.items.0"'],
    ['meta.late', 'the document has no array at "meta.late"'],
    ['meta.other.items', 'the document has no array at "meta.other.items"'],
  ])('%s is refused', async (path, message) => {
    await expect(readInProcess(document, { path }, 'x.json')).rejects.toMatchObject({
      status: 400,
      message: `config.path: ${message}`,
    });
  });
});
