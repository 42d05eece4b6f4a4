import type { Client } from './client.ts';

/** Returns the value of a metric with these labels, 0 if there is none. */
export async function readMetric(
  caller: Client,
  name: string,
  labels: Record<string, string | number>,
): Promise<number> {
  const { body } = await caller.request('GET', '/metrics');
  const line = String(body)
    .split('\n')
    .find(
      (candidate) =>
        candidate.startsWith(`${name}{`) &&
        Object.entries(labels).every(([label, value]) => candidate.includes(`${label}="${value}"`)),
    );
  return line ? Number(line.slice(line.lastIndexOf(' '))) : 0;
}
