/** An id that no resource has. */
export const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
