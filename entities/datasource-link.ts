import { Entity, Enum, Property } from '@mikro-orm/decorators/legacy';
import { Field, ID, ObjectType, registerEnumType } from 'type-graphql';
import { JsonObject } from '../src/core/scalars.ts';
import { Node } from './node.ts';
import { TenantRow } from './tenant-row.ts';

/** Keys are the GraphQL values, values are the REST values. (TypeGraphQL requires an object.) */
export const DatasourceLinkTypeEnum = { FOREIGN_KEY: 'foreign-key', LOOKUP: 'lookup' } as const;
export type DatasourceLinkType = (typeof DatasourceLinkTypeEnum)[keyof typeof DatasourceLinkTypeEnum];
registerEnumType(DatasourceLinkTypeEnum, {
  name: 'DatasourceLinkType',
  description: 'Type of the relationship between the fields of two datasources.',
  valuesConfig: {
    FOREIGN_KEY: { description: 'The source fields are a foreign key: they identify one row of the target.' },
    LOOKUP: { description: 'The source fields are looked up in the target, with any number of matching rows.' },
  },
});

/** A relationship between the fields of two datasources (docs/contract/datasources.md#links-and-suites). */
@ObjectType({
  description:
    'A relationship between fields of one datasource and fields of another, or of the same one. ' +
    'Links are documentation: no query is joined by them.',
  implements: Node,
})
@Entity()
export class DatasourceLink extends TenantRow {
  @Field(() => ID, { description: 'Id of the datasource the link starts from.' })
  @Property({ type: 'uuid' })
  sourceDatasourceId!: string;

  @Field(() => ID, { description: 'Id of the datasource the link points to.' })
  @Property({ type: 'uuid' })
  targetDatasourceId!: string;

  @Field(() => DatasourceLinkTypeEnum, { description: 'Type of the relationship.' })
  @Enum({ items: () => Object.values(DatasourceLinkTypeEnum), type: 'text' })
  type!: DatasourceLinkType;

  @Field(() => JsonObject, {
    description: 'Map of source fields to target fields, e.g. `{"orders.customer_id": "customers.id"}`.',
  })
  @Property({ type: 'json' })
  mappings: Record<string, string> = {};
}
