import { describe, expect } from 'vitest';
import { conflict } from '../../src/core/errors.ts';
import { newId } from '../../src/core/id.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { runInline } from '../../src/services/operation/operation-inline.ts';
import { followOperation } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { eventually, rows, test } from './fixture.ts';
import { QUICK } from './platform.ts';

describe('an inline operation', () => {
  const RUN = {
    operation: 'dataset.run',
    resource: { kind: 'dataset', id: newId() },
    progress: 'preview',
  } as const;

  test('with a name has a record that can be followed', async ({ world }) => {
    const ann = await world.caller();
    const followed: string[] = [];
    const result = await runInline(ann, RUN, async ({ progress }) => {
      expect(await operations.get(ann, 'preview')).toMatchObject({ status: 'running' });
      await expect(runInline(ann, RUN, async () => 0)).rejects.toMatchObject({ status: 409 });
      progress({ current: 1, total: 2 });
      for await (const { status, percent } of followOperation(world.platform, ann.viewer, 'preview')) {
        followed.push(`${status} ${percent}`);
        if (percent === 50) break;
      }
      return { records: 2 };
    });
    expect(result).toEqual({ records: 2 });
    expect(followed.at(-1)).toBe('running 50');
    expect(await operations.get(ann, 'preview')).toMatchObject({ status: 'succeeded', percent: 100, result });
  });

  test('can be cancelled by its name', async ({ world }) => {
    const ann = await world.caller();
    const running = runInline(ann, RUN, async ({ signal }) => {
      await operations.cancel(ann, 'preview');
      await eventually(async () => signal.aborted);
      throw new Error('Aborted');
    });
    await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await operations.get(ann, 'preview')).toMatchObject({ status: 'cancelled' });
  });

  test('fails with its own error', async ({ world }) => {
    const ann = await world.caller();
    const running = runInline(ann, RUN, async () => {
      throw conflict('No');
    });
    await expect(running).rejects.toMatchObject({ message: 'No' });
    expect(await operations.get(ann, 'preview')).toMatchObject({
      status: 'failed',
      error: { statusCode: 409, code: 'CONFLICT', message: 'No' },
    });
  });

  test('is recorded as failed when its process dies', async ({ world }) => {
    const ann = await world.caller();
    void runInline(ann, RUN, () => new Promise(() => {}));
    await eventually(() => operations.get(ann, 'preview').catch(() => null));
    await rows(world, `update dws.operation set heartbeat_at = now() - interval '31 seconds'`);
    await reconcile(world.platform, {}, { ...QUICK, heartbeatTimeout: 30_000 });
    expect(await operations.get(ann, 'preview')).toMatchObject({ status: 'failed', error: { statusCode: 500 } });
  });

  test('without a name has no record', async ({ world }) => {
    const ann = await world.caller();
    expect(await runInline(ann, { ...RUN, progress: undefined }, async () => 7)).toBe(7);
    expect(await rows(world, 'select id from dws.operation')).toEqual([]);
  });
});
