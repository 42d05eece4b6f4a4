import { hash, randomBytes } from 'node:crypto';

/** Returns the SHA-256 of a secret in base64url: the form in which secrets are stored and looked up. */
export const digest = (secret: string): string => hash('sha256', secret, 'base64url');

/** Generates a random secret of 256 bits: 43 characters of base64url. */
export const generateSecret = (): string => randomBytes(32).toString('base64url');
