import { getNamedType, isCompositeType, isInputObjectType, isListType, type GraphQLArgument } from 'graphql';
import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { FIXTURES, namesOf, PARTS, READABLE_BY_ALL, singularOf } from '../conformance/fixtures.ts';
import { createResource, recordEvents } from '../support/audit-fixture.ts';
import type { Client } from '../support/client.ts';
import { test as base } from '../support/fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

const schema = await createSchema();

const test = base.extend<{ powerless: Client }>({
  powerless: [async ({ service }, use) => use(await service.user('powerless', { permissions: [] })), { scope: 'file' }],
});

const restrictedKinds = Object.keys(FIXTURES).filter((kind) => !PARTS.has(kind) && !READABLE_BY_ALL.has(kind));

describe.each(restrictedKinds)('a mutation of one of the %s', (kind) => {
  const type = namesOf(kind).type;
  const singular = singularOf(kind);

  test('is recorded as one event with the id of the resource', async ({ admin, ann, service }) => {
    const tag = await admin.creates('/tags', { name: `audit ${kind}` });
    let id = '';
    const creation = await recordEvents(service, async () => {
      id = await createResource(kind, admin, `all ${kind}`);
    });
    expect(creation.at(-1)).toMatchObject({
      action: `create${type}`,
      kind: singular,
      resourceId: id,
      outcome: 'succeeded',
    });
    const path = `/${kind}/all-${kind}`;
    const calls: [action: string, call: () => Promise<{ status: number }>][] = [
      [`update${type}`, () => admin.put(path, { description: 'x' })],
      [`update${type}`, () => admin.put(path, {})],
      [`share${type}`, () => admin.put(`${path}/shares/${ann.username}`, { accessLevel: 1 })],
      [`tag${type}`, () => admin.put(`${path}/tags/${tag.id}`)],
      [`untag${type}`, () => admin.delete(`${path}/tags/${tag.id}`)],
      [`favorite${type}`, () => admin.put(`${path}/favorite`)],
      [`unfavorite${type}`, () => admin.delete(`${path}/favorite`)],
      [`unshare${type}`, () => admin.delete(`${path}/shares/${ann.username}`)],
      [`set${type}Owner`, () => admin.put(`${path}/owner`, { ownerId: ann.username })],
      [`delete${type}`, () => admin.delete(path)],
    ];
    for (const [action, call] of calls) {
      const events = await recordEvents(service, async () => expect((await call()).status, action).toBeLessThan(300));
      expect(events, action).toMatchObject([
        { action, kind: singular, resourceId: id, outcome: 'succeeded', channel: 'rest', userId: admin.id },
      ]);
    }
  });

  test('is recorded as denied when it is refused', async ({ admin, ann, service }) => {
    const id = await createResource(kind, admin, `refused ${kind}`);
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    const events = await recordEvents(service, () => ann.delete(`/${kind}/${id}`));
    expect(events).toMatchObject([
      { action: `delete${type}`, kind: singular, resourceId: id, outcome: 'denied', userId: ann.id, username: 'ann' },
    ]);
  });
});

test('what belongs to a resource is recorded as itself when it is created', async ({ admin, service }) => {
  const { id: assistantId } = await admin.creates('/assistants', { name: 'Audited' });
  let agentId = '';
  const events = await recordEvents(service, async () => {
    agentId = (await admin.creates('/agents', { name: 'Clerk', assistantId })).id;
  });
  expect(events).toMatchObject([{ action: 'createAgent', kind: 'agent', resourceId: agentId }]);
});

describe('every mutation', () => {
  /** The outcome that the log must have for a result; undefined for failures that are not recorded. */
  function expectedOutcome(action: string, errors: { extensions: { code: string } }[] | undefined) {
    if (errors === undefined) return 'succeeded';
    return errors[0]!.extensions.code === 'FORBIDDEN' || action === 'login' ? 'denied' : undefined;
  }

  for (const { name, args, type } of Object.values(schema.getMutationType()!.getFields()))
    test(`records one event for ${name} if it succeeds or is refused, else none`, async ({
      admin,
      powerless,
      service,
    }) => {
      for (const client of [admin, powerless]) {
        let outcome: string | undefined;
        const events = await recordEvents(service, async () => {
          const { errors } = await client.gql(documentOf(name, args, isCompositeType(getNamedType(type))));
          outcome = expectedOutcome(name, errors);
        });
        const recorded = events.map((event) => [event.action, event.outcome]);
        expect(recorded).toEqual(outcome ? [[name, outcome]] : []);
      }
    });
});

const isRequired = ({ type, defaultValue }: Pick<GraphQLArgument, 'type' | 'defaultValue'>) =>
  String(type).endsWith('!') && defaultValue === undefined;

/** Returns a call with the required arguments, whose values mostly name nothing that exists. */
function documentOf(name: string, args: readonly GraphQLArgument[], composite: boolean): string {
  const required = args.filter(isRequired).map((argument) => `${argument.name}: ${literalOf(argument.type)}`);
  const list = required.length ? `(${required.join(', ')})` : '';
  return `mutation { ${name}${list}${composite ? ' { __typename }' : ''} }`;
}

const SCALAR_LITERALS: Record<string, string> = {
  Int: '1',
  Float: '1',
  Boolean: 'true',
  JSONObject: '{}',
  JSON: '1',
  DateTime: '"2026-01-01T00:00:00.000Z"',
  ID: JSON.stringify(UNKNOWN_ID),
};

function literalOf(type: GraphQLArgument['type']): string {
  const item = itemLiteralOf(type);
  return isListType('ofType' in type ? type.ofType : type) || isListType(type) ? `[${item}]` : item;
}

function itemLiteralOf(type: GraphQLArgument['type']): string {
  const named = getNamedType(type);
  if (isInputObjectType(named)) {
    const fields = Object.values(named.getFields()).filter(isRequired);
    return `{ ${fields.map((field) => `${field.name}: ${literalOf(field.type)}`).join(', ')} }`;
  }
  if ('getValues' in named) return named.getValues()[0]!.name;
  return SCALAR_LITERALS[named.name] ?? '"some text"';
}
