import type { EntityMetadata, MetadataStorage } from '@mikro-orm/core';
import { expect, test } from 'vitest';
import { TenantRow } from '../../entities/tenant-row.ts';
import { ENTITIES } from '../../src/adapters/database/entity-list.ts';
import { discoverEntities } from '../../src/adapters/database/entity-metadata.ts';
import { MikroORM, ormOptions } from '../../src/adapters/database/orm.ts';

const describeProperties = ({ props }: EntityMetadata) =>
  Object.fromEntries(
    props.map(({ name, kind, fieldNames, columnTypes, nullable, lazy, persist, version }) => [
      name,
      { kind, fieldNames, columnTypes, nullable: nullable ?? false, lazy, persist, version },
    ]),
  );

const describeEntity = (metadata: MetadataStorage, type: (typeof ENTITIES)[number]) => {
  const found = metadata.get(type as never);
  return { table: found.tableName, schema: found.schema, properties: describeProperties(found) };
};

test('entities have the metadata of a complete MikroORM, without accessors on their prototypes', async () => {
  const light = discoverEntities();
  const described = ENTITIES.map((type) => describeEntity(light, type));
  const { prototype } = ENTITIES.find((type) => Object.getPrototypeOf(type.prototype) === TenantRow.prototype)!;
  expect(Object.getOwnPropertyDescriptor(prototype, 'version')).toBeUndefined();

  const orm = new MikroORM(ormOptions({ clientUrl: 'postgresql://localhost/unused' }));
  expect(described).toEqual(ENTITIES.map((type) => describeEntity(orm.getMetadata(), type)));
  expect(described.length).toBeGreaterThan(25);
  await orm.close(true);
});
