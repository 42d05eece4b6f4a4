/** Creates a row of an entity with its default values and the given ones. `Transaction.insert` stores it. */
export const newRow = <T extends object>(type: new () => T, values: Partial<T>): T => Object.assign(new type(), values);
