import { expect, test } from 'vitest';
import type { BoundQuery, QueryResult } from '../../src/core/row-source.ts';
import { boundParameter, boundQuery } from '../support/postgres-source.ts';

/** A database server as a source. Its members exist from `beforeAll` on. */
interface ServerSource {
  load(query: BoundQuery): Promise<{ rows: unknown[] }>;
  query(text: string, parameters?: BoundQuery['parameters']): Promise<QueryResult>;
}

interface ParametersCase {
  /** SQL that joins the placeholders `{{w}}` and `{{v}}`. */
  joined: string;
  /** Texts that would change the statement if they became part of it. */
  hostileValues: string[];
}

/** Declares the tests of a server driver that values arrive as they are and placeholders by any name. */
export function testParameters(source: ServerSource, { joined, hostileValues }: ParametersCase): void {
  test.each(hostileValues)('%j arrives unchanged', async (value) => {
    const { rows } = await source.load(
      boundQuery(`select {{v}} as v, ${joined} as twice`, [boundParameter('v', value), boundParameter('w', value)]),
    );
    expect(rows).toEqual([[value, value + value]]);
  });

  test('names may have hyphens and may be keywords of SQL', async () => {
    const { rows } = await source.query('select {{start-date}} as a, {{select}} as b', [
      boundParameter('start-date', 'x'),
      boundParameter('select', 'y'),
    ]);
    expect(rows).toEqual([{ a: 'x', b: 'y' }]);
  });

  test('a placeholder without parameter is named', async () => {
    await expect(source.query('select {{missing}}')).rejects.toMatchObject({
      status: 400,
      message: 'The placeholder {{missing}} has no definition',
    });
  });
}
