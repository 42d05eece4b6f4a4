import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Shape {
  properties: Record<string, { type?: unknown }>;
  required: string[];
}
const { components } = JSON.parse(readFileSync('schema/openapi.json', 'utf8')) as {
  components: { schemas: Record<string, Shape> };
};
const { schemas } = components;

test.for(['User', 'AllUsersItem'])('the private keys of a user are optional in %s', (name) => {
  const { properties, required } = schemas[name]!;
  for (const key of ['settings', 'locked', 'lockedAt', 'loginAttempts', 'passwordSetAt', 'passwordExpiresAt']) {
    expect(properties, key).toHaveProperty(key);
    expect(required).not.toContain(key);
  }
  expect(required).toContain('username');
});

test.for([
  ['DatasetReference', 'count', ['integer', 'null']],
  ['DatasetReference', 'countWithoutSnapshots', ['integer', 'null']],
  ['DatasetReference', 'overallCount', ['integer', 'null']],
  ['JobRun', 'duration', ['integer', 'null']],
  ['JobTaskResult', 'duration', ['integer', 'null']],
  ['JobRunResult', 'duration', 'integer'],
  ['AgentRun', 'duration', ['integer', 'null']],
  ['WebhookCall', 'duration', 'integer'],
  ['LastRefresh', 'duration', ['integer', 'null']],
  ['RefreshDatasetResult', 'duration', 'integer'],
] as const)('%s.%s is a whole number', ([name, key, type]) => {
  expect(schemas[name]!.properties[key]!.type).toEqual(type);
});
