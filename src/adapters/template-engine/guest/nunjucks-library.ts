/** The parts of nunjucks 3.2.4 that the engine uses or replaces. */

export interface Token {
  type: string;
  value: string;
  lineno: number;
  colno: number;
}

/** A node of the syntax tree. Which properties it has depends on `typename`. Lines and columns are from 0. */
export interface SyntaxNode {
  typename: string;
  lineno: number;
  colno: number;
  value: unknown;
  name: SyntaxNode;
  args: SyntaxNode;
  target: SyntaxNode;
  val: SyntaxNode;
  left: SyntaxNode;
  right: SyntaxNode;
  template: SyntaxNode;
  ignoreMissing?: boolean;
  children: SyntaxNode[];
}

export interface CompileFrame {
  lookup(name: string): string | null | undefined;
}

/** The compiler: each method `compile<typename>` emits the JavaScript of a node. */
export interface Compiler {
  templateName: string;
  buffer: string;
  _emit(code: string): void;
  _emitLine(code: string): void;
  _tmpid(): string;
  _makeCallback(id: string): string;
  _getNodeName(node: SyntaxNode): string;
  _compileExpression(node: SyntaxNode, frame: CompileFrame): void;
  _compileAggregate(node: SyntaxNode, frame: CompileFrame, start: string, end: string): void;
  compile(node: SyntaxNode, frame: CompileFrame): void;
  fail(message: string, lineno: number, colno: number): never;
  [method: string]: unknown;
}

export interface Template {
  render(names: object, frame: unknown, done: (error: unknown, text: string | null) => void): void;
}

export interface Loader {
  cache?: Record<string, unknown>;
  isRelative(name: string): boolean;
  resolve(from: string, to: string): string;
  getSource(name: string): { src: string; path: string; noCache: boolean } | null;
}

export interface Environment {
  filters: Record<string, (...args: unknown[]) => unknown>;
  tests: Record<string, unknown>;
  loaders: Loader[];
  opts: { autoescape: boolean };
  addFilter(name: string, filter: (...args: unknown[]) => unknown): void;
  addGlobal(name: string, value: unknown): void;
  getTemplate(name: unknown, eager: boolean, parent?: string, ignoreMissing?: boolean): Template;
}

type TemplateClass = new (source: string, env: Environment, path: string, eager: boolean) => Template;

export interface Runtime {
  Frame: new () => unknown;
  SafeString: new (text: string) => object;
  callWrap(callee: unknown, name: string, context: unknown, args: unknown[]): unknown;
  contextOrFrameLookup(context: unknown, frame: unknown, name: string): unknown;
  memberLookup(object: unknown, key: unknown): unknown;
  [name: string]: unknown;
}

export interface Nunjucks {
  Environment: new (loaders: Loader[], options: { autoescape: boolean }) => Environment;
  Template: TemplateClass;
  compiler: {
    Compiler: { prototype: Compiler };
    compile(source: string, asyncFilters: unknown, extensions: unknown, name: string, options: unknown): string;
  };
  parser: { Parser: { prototype: Record<string, (this: object, ...args: never[]) => unknown> } };
  lexer: { lex(source: string): object };
  lib: { _prettifyError: unknown };
  runtime: Runtime;
}
