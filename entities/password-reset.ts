import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { TenantRow } from './tenant-row.ts';

/** A link by which a user sets a new password once (contract 2). */
@Entity()
export class PasswordReset extends TenantRow {
  @Property({ type: 'uuid' })
  userId!: string;

  /** SHA-256 of the random value in the link. */
  @Property({ type: 'text' })
  tokenHash!: string;

  @Property({ type: 'timestamptz' })
  expiresAt!: Date;

  /** When it was used, or ended by something else that made it out of date. */
  @Property({ type: 'timestamptz', nullable: true })
  usedAt?: Date | null;
}
