import { describe, expect, onTestFinished } from 'vitest';
import { createHandlers } from '../../src/operations/handlers.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { eventually, test as operated, type World } from '../operation/fixture.ts';
import { filesOf, GATED, createSourceDataset } from '../operation/refreshable.ts';

// Every preview starts a loader process, which takes time on a busy machine.
describe('killed workers', () => {
  /** Creates a dataset, and a function that starts previews of it. */
  async function createPreviewedDataset(world: World) {
    const ann = await world.caller();
    const dataset = await createSourceDataset(world, ann);
    onTestFinished(dataset.drop);
    const [{ datasourceId }] = (await ann.query<{ datasourceId: string }>({
      text: 'select datasource_id as "datasourceId" from dws.dataset',
    })) as [{ datasourceId: string }];
    const preview = (query: string) =>
      ann.transaction((tx) =>
        operations.start(ann, tx, {
          operation: 'dataset.preview',
          resource: { kind: 'dataset', id: dataset.id },
          concurrencyKey: `dataset:${dataset.id}`,
          input: {
            datasetId: dataset.id,
            datasourceId,
            query,
            parameters: [],
            definitions: [],
            syncFields: true,
            updateTypeMapping: true,
            disableRefreshInterval: true,
          },
        }),
      );
    return { ann, dataset, preview };
  }
  const previewIdOf = async (ann: Awaited<ReturnType<World['caller']>>) =>
    (await ann.query<{ id: string }>({ text: 'select id from dws.refresh_preview' })).map(({ id }) => id);

  operated('are replaced during a preview without effect on readers and without remains', async ({ world }) => {
    const { ann, dataset, preview } = await createPreviewedDataset(world);
    const killed = await world.startWorkerProcess('real');
    await wait(ann, await dataset.refresh('select 7 as i'));
    const before = await dataset.visible();
    const open = await dataset.closeGate();
    const id = await preview(GATED);
    await eventually(async () => (await dataset.running()).length > 0);
    await killed.kill('SIGKILL');
    await open();
    await world.startWorkerProcess('real');
    expect(await wait(ann, id)).toMatchObject({
      status: 'succeeded',
      result: { records: 5, previousRecordCount: 1 },
    });
    expect([await dataset.visible(), await dataset.rows()]).toEqual([before, [{ i: 7 }]]);
    const [previewId] = await previewIdOf(ann);
    await eventually(
      async () =>
        (await filesOf(world.dataDir)).toSorted().join() === [before.generationId, previewId].toSorted().join(),
    );
  });

  operated('leave only the generation of the last preview, which is kept until it expires', async ({ world }) => {
    const { ann, preview } = await createPreviewedDataset(world);
    const previews: string[] = [];
    for (let round = 1; round <= 3; round++) {
      const worker = await world.startWorkerProcess('real');
      previews.push(await preview(`select i from generate_series(1, ${round} * 20000) i`));
      await new Promise((resolve) => {
        setTimeout(resolve, Math.random() * 1500);
      });
      await worker.kill('SIGKILL');
    }
    await world.startWorker(createHandlers(world.loaders));
    for (const id of previews) await wait(ann, id).catch(() => null);
    const stored = await previewIdOf(ann);
    expect(stored).toHaveLength(1);
    await eventually(async () => String(await filesOf(world.dataDir)) === String(stored));
    await sweepGenerations(world.platform, { replacedAge: -1000, orphanAge: 0 });
    expect(await filesOf(world.dataDir)).toEqual(stored);
    await ann.query({ text: `update dws.refresh_preview set expires_at = now() - interval '1 second'` });
    await eventually(async () => (await filesOf(world.dataDir)).length === 0);
  });
});
