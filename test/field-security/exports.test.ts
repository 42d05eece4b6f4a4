import { describe, expect } from 'vitest';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import type { Client } from '../support/client.ts';
import { readBack } from '../support/export-readers.ts';
import { openSocket } from '../support/follow-operation.ts';
import { alike } from './compare.ts';
import { WORLDS, type Twin } from './fixture.ts';
import { encoded } from './questions.ts';
import { VISIBLE_FIELDS, VISIBLE_ROWS } from './twin-source.ts';

/** Parts of the rows, as both APIs ask for them. */
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
    .map(([key, value]) => `&${key}=${Array.isArray(value) ? value.join(',') : encoded(value)}`)
    .join('');

async function byRest(
  who: Client,
  { id }: Twin,
  format: ExportFormat,
  part: Record<string, unknown>,
): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
  const answer = await fetch(`${who.url}/api/datasets/${id}/export?format=${format}${queryOf(part)}`, {
    headers: { ...who.headers, 'accept-encoding': 'identity' },
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

interface Piece {
  text: string;
  encoding: 'UTF8' | 'BASE64';
  filename: string;
  contentType: string;
}

async function byGraphql(
  who: Client,
  { id }: Twin,
  format: ExportFormat,
  part: Record<string, unknown>,
): Promise<{ pieces: Omit<Piece, 'text'>[]; bytes: Buffer }> {
  const socket = openSocket(who);
  const pieces: Piece[] = [];
  const document = `
    subscription ($fields: [String!], $filter: JSON, $sort: String, $q: String) {
      datasetExport(id: "${id}", format: ${format.toUpperCase()}, fields: $fields, filter: $filter, sort: $sort, q: $q) {
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
  test.for(EXPORT_FORMATS)(
    'as %s are the same for twins and hold nothing hidden, in both APIs',
    async (format, { world }) => {
      const { fields } = (await world.reader.get(`/datasets/${world.twins[0]!.id}/data?limit=1`)).body as {
        fields: Field[];
      };
      expect(fields.map(({ name }) => name)).toEqual(VISIBLE_FIELDS);
      for (const part of PARTS) {
        const wanted =
          (part['fields'] as string[] | undefined)?.map((name) => fields.find((field) => field.name === name)!) ??
          fields;
        const numbers: number[] = [];
        for (const exported of [byRest, byGraphql]) {
          const answer = await alike(world, `${format} ${JSON.stringify(part)}`, async (twin) => {
            const { bytes, ...rest } = await exported(world.reader, twin, format, part);
            // The bytes too, as far as they hold no times of their own; but for hidden texts it is what programs read from them.
            const { rows } = await readBack(format, bytes, wanted);
            return { ...rest, rows, length: bytes.length, text: format === 'xlsx' ? '' : bytes.toString('latin1') };
          });
          numbers.push(answer.rows.length);
        }
        const { body } = await world.reader.post(`/datasets/${world.twins[0]!.id}/_search`, part);
        expect(numbers, JSON.stringify(part)).toEqual([body.total, body.total]);
      }
    },
  );

  test('are of all visible rows, and refused where they name a hidden field as where they name an unknown one', async ({
    world,
  }) => {
    for (const format of EXPORT_FORMATS) {
      for (const where of [
        (name: string) => `fields=${name}`,
        (name: string) => `sort=${name}`,
        (name: string) => `filter=${encoded({ [name]: 1 })}`,
      ]) {
        const ask = (name: string) =>
          alike(world, name, async ({ id }) => {
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
        const hidden = await ask('qzx_region');
        expect(hidden).toEqual(await ask('abc_region'));
        expect(hidden).toMatchObject({ status: 400, body: { message: expect.stringContaining('<field>') } });
      }
    }
    for (const twin of world.twins)
      expect((await byRest(world.reader, twin, 'ndjson', {})).bytes.toString().trim().split('\n')).toHaveLength(
        VISIBLE_ROWS,
      );
  });
});
