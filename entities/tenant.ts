import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { newId } from '../src/core/id.ts';

/** A customer of the service. Every row belongs to one tenant. See docs/architecture.md#tenants. */
@Entity()
export class Tenant {
  @PrimaryKey({ type: 'uuid' })
  id: string = newId();

  @Property({ type: 'text' })
  slug!: string;

  @Property({ type: 'timestamptz' })
  createdAt: Date = new Date();
}
