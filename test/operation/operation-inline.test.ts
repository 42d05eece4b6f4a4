import { describe, expect } from 'vitest';
import { conflict } from '../../src/core/errors.ts';
import { newId } from '../../src/core/id.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { events } from '../../src/services/operation/operation-events.ts';
import { runInline } from '../../src/services/operation/operation-inline.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { eventually, rows, test } from './fixture.ts';
import { QUICK } from './platform.ts';

describe('work in the called process', () => {
  const running = {
    operation: 'dataset.refresh',
    resource: { kind: 'dataset', id: newId() },
    progress: 'preview',
  } as const;

  test('has a record when it has a name: it can be followed and is done when it is done', async ({ world }) => {
    const ann = await world.caller();
    const told: string[] = [];
    const result = await runInline(ann, running, async ({ progress }) => {
      expect(await operations.get(ann, 'preview')).toMatchObject({ status: 'running' });
      await expect(runInline(ann, running, async () => 0)).rejects.toMatchObject({ status: 409 });
      progress({ current: 1, total: 2 });
      for await (const record of events(world.platform, ann.viewer, 'preview')) {
        told.push(`${record.status} ${record.percent}`);
        if (record.percent === 50) break;
      }
      return { records: 2 };
    });
    expect(result).toEqual({ records: 2 });
    expect(told.at(-1)).toBe('running 50');
    expect(await operations.get(ann, 'preview')).toMatchObject({ status: 'succeeded', percent: 100, result });
  });

  test('is cancelled by its name, and fails with its own error', async ({ world }) => {
    const ann = await world.caller();
    await expect(
      runInline(ann, running, async ({ signal }) => {
        await operations.cancel(ann, 'preview');
        await eventually(async () => signal.aborted);
        throw new Error('Aborted');
      }),
    ).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await operations.get(ann, 'preview')).toMatchObject({ status: 'cancelled' });
    await expect(
      runInline(ann, running, async () => {
        throw conflict('No');
      }),
    ).rejects.toMatchObject({ message: 'No' });
    expect(await operations.get(ann, 'preview')).toMatchObject({
      status: 'failed',
      error: { statusCode: 409, code: 'CONFLICT', message: 'No' },
    });
  });

  test('is recorded failed when its process died', async ({ world }) => {
    const ann = await world.caller();
    void runInline(ann, running, () => new Promise(() => {}));
    await eventually(() => operations.get(ann, 'preview').catch(() => null));
    await rows(world, `update dws.operation set heartbeat_at = now() - interval '31 seconds'`);
    await reconcile(world.platform, {}, { ...QUICK, heartbeatTimeout: 30_000 });
    expect(await operations.get(ann, 'preview')).toMatchObject({ status: 'failed', error: { statusCode: 500 } });
  });

  test('without a name leaves no record', async ({ world }) => {
    const ann = await world.caller();
    expect(await runInline(ann, { ...running, progress: undefined }, async () => 7)).toBe(7);
    expect(await rows(world, 'select id from dws.operation')).toEqual([]);
  });
});
