/**
 * Runs a fake of an AI provider on loopback, for tests and to try images and agents without an account:
 *
 *   node tools/ai-fake.ts [--port 4020]
 *
 * It has the OpenAI-compatible protocol, real PNG images, and a model that repeats the last message. It prints what a
 * provider of the service needs. Its control API changes what it does next (tools/ai-fake/fake-provider.ts):
 *
 *   curl -d '{"content": null, "toolCalls": [{"name": "lookup", "arguments": {"id": 1}}]}' 127.0.0.1:4020/_control/reply
 *   curl -d '{"kind": "image", "status": 429, "count": 3}' 127.0.0.1:4020/_control/next
 *   curl 127.0.0.1:4020/_control/calls
 */
import { parseArgs } from 'node:util';
import { AiFake } from './ai-fake/fake-provider.ts';

/** Starts a fake provider. Port 0 is any free one. Images that are returned as URLs come from the next port. */
export async function startAiFake(port = 0): Promise<AiFake> {
  const fake = new AiFake();
  await fake.listen(port);
  return fake;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '4020' } } });
  const fake = await startAiFake(Number(values.port));
  console.log(JSON.stringify(fake.provider, null, 2));
}
