/** Days that do not exist, and times of such. JavaScript moves some of them to another day. */
export const NO_DAYS: readonly string[] = [
  '2027-02-29',
  '2100-02-29',
  '2027-06-31',
  '2027-09-31T23:59:59',
  '2027-02-30T00:00:00Z',
  '2027-04-31T12:00:00.5+02:00',
  '2027-00-10',
  '2027-13-01',
  '2027-01-32',
  '2027-01-00',
];
