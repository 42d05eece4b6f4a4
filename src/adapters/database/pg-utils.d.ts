/** How pg writes the value of a parameter: text, bytes or null. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): unknown };
  export default utils;
}
