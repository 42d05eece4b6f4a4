import type { TransferBelongings } from '../../core/user-belongings.ts';
import { transferAgents } from '../agent/agent-owner.ts';
import { transferDatasetParts } from '../dataset/dataset-owner.ts';

/** The belongings that pass to the new owner with the resources of the owned kinds when a user is deleted. */
export const USER_BELONGINGS: readonly TransferBelongings[] = [transferDatasetParts, transferAgents];
