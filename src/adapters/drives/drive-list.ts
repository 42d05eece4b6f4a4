import type { Drive } from '../../core/drive.ts';

/** Returns the providers of cloud drives by their id. */
export const createDrives = (): ReadonlyMap<string, Drive> => new Map<string, Drive>();
