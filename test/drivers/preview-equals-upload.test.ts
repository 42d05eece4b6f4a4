import { describe, expect, test } from 'vitest';
import { SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { upload } = useUploads();

describe('a preview has the types and values of the dataset', () => {
  test.each([
    ['x.csv', 'id,\ufeffname,t\n1,\ufeffx,a\ufeffb\n2,y,\ufeff\ufeff\n'],
    ['x.json', '[{"\ufeffid": "\ufeffx", "t": "a\ufeffb", "o": {"k": "\ufeffv"}}, {"\ufeffid": "\ufeff"}]'],
    ['x.csv', 'n,m\n1234567890123.4567,1.50\n1.5,2.0\n'],
    ['x.csv', 'n,m\n 1234567890123.4567 ,1\n1.5,12345678901234567890\n'],
    ['x.json', '[{"n": 1234567890123.4567, "o": [1.50]}, {"n": 1.50}]'],
    ['x.csv', 'd,t\n2026-01-01,2026-01-01 10:00:00.5\n2026-01-02,2026-01-01T10:00:00+05:30\n'],
  ])('%s %j', async (filename, content) => {
    const { file } = await upload(content, filename);
    const { fields, rows } = await file.query(SELECT_ALL);
    const { generation, rows: loaded } = await file.index(SELECT_ALL);
    const shape = ({ name, type, format = null }: { name: string; type: string; format?: string | null }) => [
      name,
      type,
      format,
    ];
    expect(fields.map(shape)).toEqual(generation.fields.map(shape));
    expect(rows.map((row) => fields.map(({ name }) => row[name]))).toEqual(
      loaded.map((row) => fields.map(({ name }) => row[name])),
    );
  });
});
