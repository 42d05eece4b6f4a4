import { getNamedType, isObjectType } from 'graphql';
import { resource, type Presentation, type Presenter } from './present.ts';
import type { Json } from './route.ts';
import { topLevelNames } from './selection.ts';

/** Fields of a long operation in REST. */
export const OPERATION_FIELDS =
  'id progress operation resource { kind id } status percent current total unit message startedAt updatedAt ' +
  'finishedAt result error { statusCode code message validation { path message code line column } }';

/** Presents the record of a long operation. */
export const operationRecord = resource<{ id: string }>(OPERATION_FIELDS, (operation) => ({
  self: `/progress/${operation.id}`,
}));

/**
 * Presents a long mutation that returns `{operation, result}`: the result, or with `Prefer: respond-async` the
 * operation's record, as 202 with its `Location`. See docs/contract/operations.md#operations. `beside` selects further
 * fields of the mutation, which are printed with the result.
 */
export function operation(result: Presenter, record: Presenter = operationRecord, beside = ''): Presenter {
  return {
    on(type, field) {
      const named = getNamedType(type);
      const fields = isObjectType(named) ? named.getFields() : {};
      const part = (name: string, presenter: Presenter) =>
        unwrap(name, presenter.on(fields[name]?.type ?? type, field));
      const presented = part('result', result);
      return { ...(beside ? withBeside(presented, beside) : presented), deferred: part('operation', record) };
    },
  };
}

/** Presents further fields of a payload with the field that stands for it. */
function withBeside(presentation: Presentation, beside: string): Presentation {
  const names = topLevelNames(beside);
  return {
    ...presentation,
    selection: `${presentation.selection} ${beside}`,
    unwraps: { ...presentation.unwraps!, beside },
    present: (payload, options) => ({
      ...(presentation.present(payload, options) as Json),
      ...Object.fromEntries(names.map((name) => [name, (payload as Json)[name]])),
    }),
  };
}

/** Presents one field of a payload as if it were the whole payload. The response of a POST has no ETag. */
function unwrap(name: string, inner: Presentation): Presentation {
  const valueOf = (payload: unknown) => (payload as Record<string, unknown>)[name];
  return {
    selection: inner.selection ? `${name} { ${inner.selection} }` : name,
    keys: inner.keys,
    identity: [],
    single: false,
    unwraps: { field: name, inner },
    present: (payload, options) => inner.present(valueOf(payload), options),
    ...(inner.self && {
      self: (payload, params) => inner.self?.(valueOf(payload) as Record<string, unknown>, params),
    }),
  };
}
