import type { Endpoint } from './bridge.ts';
import { EXAMPLE_ID } from './route.ts';

const TIME = '2026-01-31T09:30:00.000Z';

/** Examples of parameters by their names, from the demo shop of docs/tour.md. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  q: 'sales',
  sort: 'name,-createdAt',
  name: 'Sales',
  tag: 'Sales',
  username: 'ann',
  domain: 'local',
  tenant: 'default',
  principal: 'bob',
  ownerId: `user:${EXAMPLE_ID}`,
  from: TIME,
  to: TIME,
  action: 'shareDataset',
  actor: `user:${EXAMPLE_ID}`,
  entityId: EXAMPLE_ID,
  kind: 'dataset',
  dataset: 'lines',
  datasetId: 'order-lines',
};

/** Returns an example of a parameter: of the row or by its name; undefined where the schema says enough. */
export const parameterExample = ({ row }: Endpoint, name: string): unknown =>
  row.options.parameterExamples?.[name] ?? EXAMPLES[name];
