import {
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import type { PublicContext } from '../../core/context.ts';
import type { ValidationIssue } from '../../core/errors.ts';
import { throwIssues } from '../../core/input-checks.ts';
import { findDeclaredRule, ruleOf, toRuleIssue, violation, type InputRule } from '../../core/input-rules.ts';
import { resolverMetadata, type Method } from './resolver-metadata.ts';

/** Adds the issues of a value. `path` is the path of the value as REST names it. */
type Check = (value: unknown, path: readonly (string | number)[], issues: ValidationIssue[]) => void;
type Resolve = GraphQLFieldResolver<unknown, PublicContext>;

/**
 * Copies the rules that `@Rule` declares to the arguments and input fields of a schema, and wraps the resolvers of the
 * fields that have them. A call with a value that violates a rule is BAD_USER_INPUT. Changes and returns the schema.
 */
export function withInputRules(schema: GraphQLSchema): GraphQLSchema {
  declareFieldRules(schema);
  declareArgumentRules(schema);
  const checks = new Map<GraphQLInputType, Check | undefined>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const check = createArgumentsCheck(field, checks);
      if (!check) continue;
      if (field.resolve) field.resolve = withCheck(check, field.resolve as Resolve);
      if (field.subscribe) field.subscribe = withCheck(check, field.subscribe as Resolve);
    }
  }
  return schema;
}

/** Replaces the type of an argument with a default, where it is not null, by a rule: a null then has its path in the error. */
export function relaxDefaults(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !type.name.startsWith('__'))
      for (const argument of Object.values(type.getFields()).flatMap(({ args }) => args))
        if (argument.defaultValue !== undefined && isNonNullType(argument.type)) {
          argument.type = argument.type.ofType;
          setRule(argument, { ...ruleOf(argument), notNull: true });
        }
  return schema;
}

function setRule(element: GraphQLArgument | GraphQLInputField | undefined, rule: InputRule | undefined): void {
  if (element && rule) element.extensions = { ...element.extensions, rule };
}

function declareFieldRules(schema: GraphQLSchema): void {
  for (const { name, target } of resolverMetadata().inputTypes) {
    const type = schema.getType(name);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields()))
        setRule(field, findDeclaredRule(target.prototype, field.name));
  }
}

function declareArgumentRules(schema: GraphQLSchema): void {
  const { queries, mutations, subscriptions, fieldResolvers, objectTypes } = resolverMetadata();
  const declareAll = (typeName: string | undefined, methods: readonly Method[]): void => {
    const type = schema.getType(typeName ?? '');
    if (isObjectType(type))
      for (const method of methods) declareMethodRules(type.getFields()[method.schemaName], method);
  };
  declareAll(schema.getQueryType()?.name, queries);
  declareAll(schema.getMutationType()?.name, mutations);
  declareAll(schema.getSubscriptionType()?.name, subscriptions);
  for (const method of fieldResolvers) {
    const of = method.getObjectType?.();
    declareAll(objectTypes.find(({ target }) => target === of)?.name, [method]);
  }
}

function declareMethodRules(field: GraphQLField<unknown, unknown> | undefined, method: Method): void {
  for (const { kind, index, name, getType } of method.params ?? [])
    if (kind === 'arg')
      setRule(
        field?.args.find((argument) => argument.name === name),
        findDeclaredRule(method.target.prototype as object, method.methodName, index),
      );
    else if (kind === 'args') {
      const { prototype } = getType!() as { prototype: object };
      for (const argument of field?.args ?? []) setRule(argument, findDeclaredRule(prototype, argument.name));
    }
}

const withCheck =
  (check: Check, resolve: Resolve): Resolve =>
  (source, args, context, info) => {
    const issues: ValidationIssue[] = [];
    check(args, [], issues);
    throwIssues(issues);
    return resolve(source, args, context, info);
  };

/** Creates the check of a field's arguments. Paths leave out the argument `input`: REST has its keys in the body. */
function createArgumentsCheck(
  { args }: GraphQLField<unknown, unknown>,
  known: Map<GraphQLInputType, Check | undefined>,
): Check | undefined {
  return createKeysCheck(args, known, (path, name) => (name === 'input' ? path : [...path, name]));
}

/** Creates the check of the values of some arguments or input fields. Returns undefined when none has a rule. */
function createKeysCheck(
  elements: readonly (GraphQLArgument | GraphQLInputField)[],
  known: Map<GraphQLInputType, Check | undefined>,
  pathOf: (path: readonly (string | number)[], name: string) => readonly (string | number)[],
): Check | undefined {
  const checks = elements.flatMap(({ name, type, extensions }) => {
    const check = createCheck(type, ruleOf({ extensions }), known);
    return check ? [{ name, check }] : [];
  });
  if (checks.length === 0) return undefined;
  return (values, path, issues) => {
    for (const { name, check } of checks) check((values as Record<string, unknown>)[name], pathOf(path, name), issues);
  };
}

/** Creates the check of a value of a type, with the values inside it. Returns undefined when none has a rule. */
function createCheck(
  type: GraphQLInputType,
  rule: InputRule | undefined,
  known: Map<GraphQLInputType, Check | undefined>,
): Check | undefined {
  const inner = createInnerCheck(type, rule, known);
  if (!rule) return inner;
  return (value, path, issues) => {
    const text = violation(rule, value);
    if (text !== undefined) issues.push(toRuleIssue(path, text));
    else inner?.(value, path, issues);
  };
}

function createInnerCheck(
  type: GraphQLInputType,
  rule: InputRule | undefined,
  known: Map<GraphQLInputType, Check | undefined>,
): Check | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const checkItem = createCheck(nullable.ofType as GraphQLInputType, rule?.items, known);
    return (
      checkItem &&
      ((list, path, issues) => {
        if (Array.isArray(list)) for (const [at, item] of list.entries()) checkItem(item, [...path, at], issues);
      })
    );
  }
  if (!isInputObjectType(nullable)) return undefined;
  if (!known.has(nullable)) {
    known.set(nullable, undefined);
    const check = createKeysCheck(Object.values(nullable.getFields()), known, (path, name) => [...path, name]);
    known.set(
      nullable,
      check &&
        ((value, path, issues) => {
          if (typeof value === 'object' && value !== null) check(value, path, issues);
        }),
    );
  }
  return known.get(nullable);
}
