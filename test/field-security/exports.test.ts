import { describe, expect } from 'vitest';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import type { Client } from '../support/client.ts';
import { readBack } from '../support/export-readers.ts';
import { openSocket } from '../support/follow-operation.ts';
import { expectAlike } from './compare.ts';
import { WORLDS, type Twin } from './fixture.ts';
import { encodeFilter } from './row-queries.ts';
import { VISIBLE_FIELDS, VISIBLE_ROWS } from './twin-source.ts';

/** Row queries, as arguments of both APIs. */
const PARTS: readonly Record<string, unknown>[] = [
  {},
  { sort: '-amount' },
  { sort: 'region,-id', fields: ['note', 'id'] },
  { q: 'qzx' },
  { q: 'zoe', filter: { units: { $gte: 2 } } },
  { filter: { amount: { $gte: 700_000 } } },
];

const queryOf = (part: Record<string, unknown>): string =>
  Object.entries(part)
    .map(([key, value]) => `&${key}=${Array.isArray(value) ? value.join(',') : encodeFilter(value)}`)
    .join('');

async function exportByRest(
  who: Client,
  { id }: Twin,
  format: ExportFormat,
  part: Record<string, unknown>,
): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
  const response = await fetch(`${who.url}/api/datasets/${id}/export?format=${format}${queryOf(part)}`, {
    headers: { ...who.headers, 'accept-encoding': 'identity' },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

interface Piece {
  text: string;
  encoding: 'UTF8' | 'BASE64';
  filename: string;
  contentType: string;
}

async function exportByGraphql(
  who: Client,
  { id }: Twin,
  format: ExportFormat,
  part: Record<string, unknown>,
): Promise<{ pieces: Omit<Piece, 'text'>[]; bytes: Buffer }> {
  const socket = openSocket(who);
  const pieces: Piece[] = [];
  const document = `
    subscription ($fields: [String!], $filter: RowFilter, $sort: String, $q: String) {
      datasetExport(
        id: "${id}", format: ${format.toUpperCase()}, fields: $fields, filter: $filter, sort: $sort, q: $q
      ) {
        text encoding filename contentType
      }
    }
  `;
  try {
    for await (const { data, errors } of socket.iterate<{ datasetExport: Piece }>(document, part)) {
      expect(errors).toBeUndefined();
      pieces.push(data!.datasetExport);
    }
  } finally {
    await socket.dispose();
  }
  return {
    pieces: pieces.map(({ text: _text, ...piece }) => piece),
    bytes: Buffer.concat(
      pieces.map(({ text, encoding }) => Buffer.from(text, encoding === 'BASE64' ? 'base64' : 'utf8')),
    ),
  };
}

describe.each(WORLDS)('exports with rows in $index', { timeout: 300_000 }, ({ test }) => {
  test.for(EXPORT_FORMATS)('as %s are equal for both twins and contain nothing hidden', async (format, { world }) => {
    const { fields } = (await world.reader.get(`/datasets/${world.twins[0]!.id}/data?limit=1`)).body as {
      fields: Field[];
    };
    expect(fields.map(({ name }) => name)).toEqual(VISIBLE_FIELDS);
    for (const part of PARTS) {
      const selected =
        (part['fields'] as string[] | undefined)?.map((name) => fields.find((field) => field.name === name)!) ?? fields;
      const counts: number[] = [];
      for (const exportRows of [exportByRest, exportByGraphql]) {
        const exported = await expectAlike(world, `${format} ${JSON.stringify(part)}`, async (twin) => {
          const { bytes, ...rest } = await exportRows(world.reader, twin, format, part);
          // The bytes are compared as well, except for xlsx, whose archive contains times.
          const { rows } = await readBack(format, bytes, selected);
          return { ...rest, rows, length: bytes.length, text: format === 'xlsx' ? '' : bytes.toString('latin1') };
        });
        counts.push(exported.rows.length);
      }
      const { body } = await world.reader.post(`/datasets/${world.twins[0]!.id}/_search`, part);
      expect(counts, JSON.stringify(part)).toEqual([body.total, body.total]);
    }
  });

  test('contain all visible rows, and a hidden field is refused like an unknown one', async ({ world }) => {
    for (const format of EXPORT_FORMATS) {
      for (const where of [
        (name: string) => `fields=${name}`,
        (name: string) => `sort=${name}`,
        (name: string) => `filter=${encodeFilter({ [name]: 1 })}`,
      ]) {
        const exportWith = (name: string) =>
          expectAlike(world, name, async ({ id }) => {
            const { status, body } = await world.reader.get(`/datasets/${id}/export?format=${format}&${where(name)}`);
            return {
              status,
              body: {
                ...body,
                message: String(body.message).replace(name, '<field>'),
                validation: JSON.parse(JSON.stringify(body.validation ?? null).replaceAll(name, '<field>')),
              },
            };
          });
        const hidden = await exportWith('qzx_region');
        expect(hidden).toEqual(await exportWith('abc_region'));
        expect(hidden).toMatchObject({ status: 400, body: { message: expect.stringContaining('<field>') } });
      }
    }
    for (const twin of world.twins)
      expect((await exportByRest(world.reader, twin, 'ndjson', {})).bytes.toString().trim().split('\n')).toHaveLength(
        VISIBLE_ROWS,
      );
  });
});
