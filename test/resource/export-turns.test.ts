import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { EXPORT_FORMATS } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import { endTurn, noteRequest, runInTurn } from '../../src/core/long-turns.ts';
import { exportFile } from '../../src/services/resource/export-file.ts';

/** Counts the turns of the event loop while `work` runs. */
async function withTurns(work: (turnNow: () => number) => Promise<void>): Promise<void> {
  let turn = 0;
  let next = setImmediate(function count() {
    turn += 1;
    next = setImmediate(count);
  });
  try {
    await work(() => turn);
  } finally {
    clearImmediate(next);
  }
}

const fields = ['a', 'b', 'c'].map((name): Field => ({ name, label: name, type: 'string' }) as Field);

describe('the rows of an export are written in many turns of the event loop:', () => {
  test.for(EXPORT_FORMATS)('%s', async (format) => {
    await withTurns(async (turnNow) => {
      const rowsOfTurn = new Map<number, number>();
      const rows = Array.from({ length: 20_000 }, (_, i) => ({
        get a() {
          rowsOfTurn.set(turnNow(), (rowsOfTurn.get(turnNow()) ?? 0) + 1);
          return String(i);
        },
        b: 'b',
        c: 'c',
      }));
      let read = 0;
      const chunks = exportFile(format, { filename: 'f', title: 'T' }, fields, async function* () {
        yield rows;
      });
      for await (const chunk of chunks) read = chunk.rows;
      expect(read).toBe(20_000);
      expect(rowsOfTurn.size).toBeGreaterThanOrEqual(10);
      expect(Math.max(...rowsOfTurn.values())).toBeLessThanOrEqual(4000);
    });
  });
});

describe('long work', () => {
  test('pauses for many turns of the event loop while requests are served, and for one otherwise', async () => {
    await withTurns(async (turnNow) => {
      const before = turnNow();
      await endTurn(50);
      expect(turnNow() - before).toBeLessThanOrEqual(2);
      noteRequest();
      const busy = turnNow();
      await endTurn(50);
      expect(turnNow() - busy).toBeGreaterThan(10);
    });
  });

  test('is followed by a pause, after which the next one begins', async () => {
    const turns: number[] = [];
    await withTurns(async (turnNow) => {
      await nextTurn();
      for (let n = 0; n < 2; n++)
        await runInTurn(() => {
          turns.push(turnNow());
          const end = performance.now() + 20;
          while (performance.now() < end);
        });
    });
    expect(turns[1]! - turns[0]!).toBeGreaterThan(10);
  });
});
