import { forbidden } from '../../core/errors.ts';
import type { Viewer } from '../../core/viewer.ts';

/** Throws FORBIDDEN without `billing:manage`, which budgets and the assignment of usage profiles require. */
export function requireBilling({ superuser, permissions }: Pick<Viewer, 'superuser' | 'permissions'>): void {
  if (!superuser && !permissions.has('billing:manage')) throw forbidden({ permission: 'billing:manage' });
}
