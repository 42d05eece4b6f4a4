import type { TransferBelongings } from '../../core/user-belongings.ts';

/** Transfers the saved filters of an owner to another one and deletes the drafts of the owner. */
export const transferDatasetParts: TransferBelongings = (tx, tenantId, from, to) => {
  tx.execute({
    text: `delete from dws.dataset where tenant_id = $1 and owner_id = $2 and is_draft`,
    values: [tenantId, from],
  });
  tx.execute({
    text: `
      update dws.saved_filter set owner_id = $3, version = version + 1, updated_at = now()
      where tenant_id = $1 and owner_id = $2`,
    values: [tenantId, from, to],
  });
};
