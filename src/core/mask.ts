/** The API returns this in place of a secret. A client that sends it back keeps the secret. */
export const MASK = '••••';
