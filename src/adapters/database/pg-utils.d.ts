/** pg's conversion of a parameter to text, bytes or null, which its own types do not export. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): unknown };
  export default utils;
}
