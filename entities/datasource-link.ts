import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { TenantRow } from './tenant-row.ts';

/** TypeGraphQL wants an object: the keys are GraphQL's words, the values those of the specification. */
export const DatasourceLinkTypeEnum = { FOREIGN_KEY: 'foreign-key', LOOKUP: 'lookup' } as const;
export type DatasourceLinkType = (typeof DatasourceLinkTypeEnum)[keyof typeof DatasourceLinkTypeEnum];
registerEnumType(DatasourceLinkTypeEnum, {
  name: 'DatasourceLinkType',
  description: 'How the fields of two datasources belong together.',
  valuesConfig: {
    FOREIGN_KEY: { description: 'The source’s fields are the key of a row of the target.' },
    LOOKUP: {
      description: 'The source’s fields are looked up in the target, which may have several such rows or none.',
    },
  },
});

/** That fields of one datasource belong to fields of another, or of itself (specification, "Datasource link and suite"). */
@ObjectType({ description: 'That fields of one datasource belong to fields of another, or of itself.' })
@Entity()
export class DatasourceLink extends TenantRow {
  @Field(() => ID, { description: 'The datasource it leads from.' })
  @Property({ type: 'uuid' })
  sourceDatasourceId!: string;

  @Field(() => ID, { description: 'The datasource it leads to.' })
  @Property({ type: 'uuid' })
  targetDatasourceId!: string;

  @Field(() => DatasourceLinkTypeEnum, { description: 'How the fields belong together.' })
  @Enum({ items: () => Object.values(DatasourceLinkTypeEnum), type: 'text' })
  type!: DatasourceLinkType;

  @Field(() => JsonObject, {
    description: 'Source field to target field, e.g. `{"orders.customer_id": "customers.id"}`.',
  })
  @Property({ type: 'json' })
  mappings: Record<string, string> = {};
}
