import { expect, test } from 'vitest';
import { agentRun } from '../../src/operations/agent-run.ts';
import type { RunningClaim } from '../../src/operations/handler.ts';
import { startAiFake } from '../../tools/ai-fake.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createAgent } from './agent-fixture.ts';

test('a run that takes too long fails, and ends the call of the model', async () => {
  const service = await startService({ OUTBOUND_ALLOW: '127.0.0.1', ROLE: 'web' });
  const ai = await startAiFake();
  try {
    const admin = await service.user('admin', { superuser: true });
    await admin.creates('/ai-providers', ai.provider);
    const agent = await createAgent(admin);
    const { credits } = await admin.creates('/usage/quote', { action: 'agentRun', agentId: agent.id });
    await admin.post(`${agent.path}/_run`, {}, { prefer: 'respond-async' });
    const [operation] = await systemQuery<{
      tenantId: string;
      workId: string;
      input: RunningClaim<'agent.run'>['input'];
    }>(
      service,
      `select tenant_id as "tenantId", work_id as "workId", input from dws.operation where operation = 'agent.run'`,
    );
    ai.behaviors.push({ hangs: true });
    const job = { ...operation!, signal: new AbortController().signal, progress: () => undefined };
    const prepared = await agentRun(300).run(job as unknown as RunningClaim<'agent.run'>, service.platform);
    expect(prepared.failure).toMatchObject({ statusCode: 504, message: 'The run took longer than 0.005 minutes' });
    await service.platform.database.transaction(operation!.tenantId, (tx) => prepared.publish(tx));
    const { body } = await admin.get(`${agent.path}/runs`);
    expect(body._embedded['svc:agent-run']).toMatchObject([
      { status: 'failed', credits, output: null, error: 'The run took longer than 0.005 minutes' },
    ]);
    expect(await systemQuery(service, 'select id from dws.credit_reservation')).toEqual([]);
    expect(await systemQuery(service, 'select status, 1 + credits::float8 as credits from dws.ai_call')).toEqual([
      { status: 'failed', credits: expect.closeTo(credits, 6) },
    ]);
  } finally {
    await ai.close();
    await service.close();
  }
});
