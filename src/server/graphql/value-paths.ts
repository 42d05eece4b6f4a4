import { BREAK, Kind, visit, type ASTNode, type DocumentNode } from 'graphql';

/** Keys of a value as the `validation` of an error names them. */
export type ValuePath = readonly (string | number)[];

/** Returns the path of a literal in a document, whose position is given as `visit` of graphql-js does. */
export function literalPath(document: DocumentNode, position: ValuePath): ValuePath {
  const keys: (string | number)[] = [];
  let node: unknown = document;
  let isItem = false;
  for (const step of position) {
    node = (node as Record<string | number, unknown>)[step];
    if (isItem) keys.push(step);
    isItem = step === 'values';
    const { kind, name, variable } = node as { kind?: Kind; name?: { value: string }; variable?: typeof node };
    if (kind === Kind.FIELD || kind === Kind.DIRECTIVE) keys.length = 0;
    // REST has the keys of this argument in the body.
    else if (kind === Kind.OBJECT_FIELD || (kind === Kind.ARGUMENT && name!.value !== 'input')) keys.push(name!.value);
    else if (kind === Kind.VARIABLE_DEFINITION) keys.push((variable as { name: { value: string } }).name.value);
  }
  return keys;
}

/** Returns the path of a variable: where its first use stands, or its name if no argument of a field takes it. */
export function variablePath(document: DocumentNode, variable: string): ValuePath {
  let path: ValuePath = [variable];
  visit(document, {
    VariableDefinition: () => false,
    Directive: () => false,
    Variable({ name }, _key, _parent, position) {
      if (name.value !== variable) return undefined;
      path = literalPath(document, position);
      return BREAK;
    },
  });
  return path;
}

/** Returns the path of a node that is a literal of a document; undefined for other nodes. */
export function pathOfNode(document: DocumentNode, literal: ASTNode): ValuePath | undefined {
  let path: ValuePath | undefined;
  visit(document, {
    enter(node, _key, _parent, position) {
      if (node !== literal) return undefined;
      path = literalPath(document, position);
      return BREAK;
    },
  });
  return path;
}
