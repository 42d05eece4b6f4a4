import { getNamedType, isObjectType } from 'graphql';
import { resource, type Presentation, type Presenter } from './present.ts';

/** What REST prints of a long operation (contract 6). */
export const OPERATION_FIELDS =
  'id progress operation resource { kind id } status percent current total unit message startedAt updatedAt finishedAt result error { statusCode code message }';

/** The record of a long operation. */
export const operationRecord = resource<{ id: string }>(OPERATION_FIELDS, (operation) => ({
  self: `/progress/${operation.id}`,
}));

/**
 * A long mutation that answers `{operation, result}`: prints the result, or with `Prefer: respond-async` the operation's record,
 * as 202 with its `Location` (contract 6).
 */
export function operation(result: Presenter, record: Presenter = operationRecord): Presenter {
  return {
    on(type, field) {
      const named = getNamedType(type);
      const fields = isObjectType(named) ? named.getFields() : {};
      const part = (name: string, presenter: Presenter) =>
        unwrapped(name, presenter.on(fields[name]?.type ?? type, field));
      return { ...part('result', result), deferred: part('operation', record) };
    },
  };
}

/** Prints one field of the answer as a presentation would print it alone. It has no ETag: a POST's answer is no resource to read again. */
function unwrapped(name: string, inner: Presentation): Presentation {
  const of = (answer: unknown) => (answer as Record<string, unknown>)[name];
  return {
    selection: inner.selection ? `${name} { ${inner.selection} }` : name,
    keys: inner.keys,
    identity: [],
    single: false,
    unwraps: { field: name, inner },
    present: (answer, asked) => inner.present(of(answer), asked),
    ...(inner.self && { self: (answer, params) => inner.self?.(of(answer) as Record<string, unknown>, params) }),
  };
}
