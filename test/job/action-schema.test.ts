import { expect, test } from 'vitest';
import type { JobActionDriver } from '../../src/core/job-drivers.ts';
import { defineAction } from '../../src/services/job/drivers/action-schema.ts';

interface CallData {
  url: string;
  method: string;
  body?: string;
}
interface FreeData {
  body?: string;
}
interface TimedData {
  timeout?: number;
}

const driver = { id: 'call', name: 'Call', description: '', run: async () => {}, preview: async () => ({}) };
const properties = { url: {}, method: {}, body: {} };

/** Actions that the compiler refuses, not this process. */
const REFUSED = [
  // @ts-expect-error: the list of required properties is missing
  () => defineAction<CallData>({ ...driver, properties }),
  // @ts-expect-error: it is empty
  () => defineAction<CallData>({ ...driver, properties, required: {} }),
  // @ts-expect-error: it is incomplete
  () => defineAction<CallData>({ ...driver, properties, required: { url: true } }),
  // @ts-expect-error: it has an optional property
  () => defineAction<CallData>({ ...driver, properties, required: { url: true, method: true, body: true } }),
  // @ts-expect-error: the data requires no property
  () => defineAction<FreeData>({ ...driver, properties: { body: {} }, required: { body: true } }),
  // @ts-expect-error: all actions have a timeout
  () => defineAction<TimedData>({ ...driver, properties: { timeout: {} } }),
];

test('the compiler refuses wrong required properties, and properties that all actions have', () => {
  expect(REFUSED).toHaveLength(6);
});

const schemaOf = ({ schema }: JobActionDriver) => schema as { required: string[]; properties: object };

test('the schema of an action has the properties of its data, and the settings of all actions', () => {
  const call = schemaOf(defineAction<CallData>({ ...driver, properties, required: { url: true, method: true } }));
  expect(call.required).toEqual(['url', 'method']);
  expect(Object.keys(call.properties)).toEqual(['url', 'method', 'body', 'retry', 'timeout']);
  expect(schemaOf(defineAction<FreeData>({ ...driver, properties: { body: {} } })).required).toEqual([]);
});
