import type { Job } from '../../../entities/job.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { LEVEL } from '../../core/permissions.ts';
import { ownershipLevel } from '../resource/access-level.ts';

/**
 * Checks that a job may run. A new owner accepts a job by running or enabling it, because its actions run with the rights
 * of the owner. The caller marks the job as accepted. Throws CONFLICT for others while it is not accepted.
 */
export function requireAccepted({ viewer }: Pick<Context, 'viewer'>, { accepted, ownerId }: Job): void {
  if (!accepted && ownershipLevel(viewer, ownerId) < LEVEL.owner)
    throw conflict('The owner has not accepted the job yet');
}
