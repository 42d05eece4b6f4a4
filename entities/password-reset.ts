import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { TenantRow } from './tenant-row.ts';

/** A link with which a user can set a new password once. See docs/contract/access.md#passwords. */
@Entity()
export class PasswordReset extends TenantRow {
  @Property({ type: 'uuid' })
  userId!: string;

  /** SHA-256 of the random value in the link. */
  @Property({ type: 'text' })
  tokenHash!: string;

  @Property({ type: 'timestamptz' })
  expiresAt!: Date;

  /** Time at which the link was used, or invalidated by another change of the user. */
  @Property({ type: 'timestamptz', nullable: true })
  usedAt?: Date | null;
}
