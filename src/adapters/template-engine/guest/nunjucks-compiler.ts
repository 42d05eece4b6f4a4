import { locate, type Mistake } from './mistakes.ts';
import type { CompileFrame, Compiler, Environment, Nunjucks, Runtime, SyntaxNode } from './nunjucks-library.ts';

type Place = Omit<Mistake, 'message'>;

/** Filters and tests that accept an unknown name, even if unknown names are mistakes. */
const FOR_UNKNOWN_FILTERS = new Set(['default', 'd']);
const FOR_UNKNOWN_TESTS = new Set(['defined', 'undefined']);
const STATEMENTS = ['If', 'For', 'Set', 'Switch', 'Super', 'Block', 'Extends', 'Import', 'FromImport', 'Include'];

/** Input and callbacks of the compiler. */
interface CompilerOptions {
  strict: boolean;
  /** Called for each template that is named literally. */
  onReference(name: string, place: Place): void;
}

/**
 * Changes the compiler and the runtime so that each error at runtime has the place of the expression that failed, in its own file, and
 * that unknown names are mistakes if `strict`. Compiled code stores the index of the place that it evaluates in `runtime.at`.
 */
export function locateRuntimeErrors(nunjucks: Nunjucks, env: Environment, options: CompilerOptions): void {
  const places: Place[] = [];
  const addPlace = (compiler: Compiler, { lineno, colno }: SyntaxNode): number =>
    places.push({ path: compiler.templateName, line: lineno + 1, column: colno + 1 }) - 1;
  const locateHere = (error: unknown): Error =>
    locate(error, places[nunjucks.runtime.at as number] ?? { path: '', line: null, column: null });
  const { prototype } = nunjucks.compiler.Compiler;
  changeRuntime(nunjucks, env, locateHere);
  changeExpressions(prototype, env, options, addPlace);
  changeStatements(prototype, options, addPlace, places);
}

function changeRuntime({ runtime, lib }: Nunjucks, env: Environment, locateHere: (error: unknown) => Error): void {
  const { callWrap, memberLookup } = runtime;
  const unknown = (name: string): never => {
    throw new Error(`Unknown name ${name}`);
  };
  Object.assign(runtime, {
    at: -1,
    handleError: locateHere,
    callAt(at: number, callee: unknown, name: string, context: unknown, args: unknown[]) {
      runtime.at = at;
      const result = callWrap(callee, name, context, args);
      runtime.at = at;
      return result;
    },
    filterAt(at: number, name: string, context: unknown, args: unknown[]) {
      runtime.at = at;
      return env.filters[name]!.apply(context, args);
    },
    nameAt(at: number, context: unknown, frame: unknown, name: string) {
      const value = runtime.contextOrFrameLookup(context, frame, name);
      if (value !== undefined) return value;
      runtime.at = at;
      return unknown(name);
    },
    memberAt(at: number, name: string, object: unknown, key: unknown) {
      const value = memberLookup(object, key);
      if (value !== undefined) return value;
      runtime.at = at;
      return unknown(name);
    },
    /** Gets a template synchronously: with a callback, its errors would be thrown after the rest of the file. */
    templateAt(at: number, name: unknown, parent: string, ignoreMissing: boolean, done: (...args: unknown[]) => void) {
      runtime.at = at;
      let template: unknown;
      try {
        template = env.getTemplate(name, true, parent, ignoreMissing);
      } catch (error) {
        return done(locateHere(error));
      }
      return done(null, template);
    },
  } satisfies Partial<Runtime>);
  lib._prettifyError = (_path: string, _withInternals: boolean, error: unknown) => locateHere(error);
}

type AddPlace = (compiler: Compiler, node: SyntaxNode) => number;

function changeExpressions(
  prototype: Compiler,
  env: Environment,
  { strict }: CompilerOptions,
  addPlace: AddPlace,
): void {
  let isLenient = !strict;
  /** Compiles code that may contain unknown names. */
  const leniently = (work: () => void): void => {
    const before = isLenient;
    isLenient = true;
    work();
    isLenient = before;
  };
  const { compileSymbol, compileLookupVal, compileIs } = prototype as unknown as Record<
    string,
    (this: Compiler, node: SyntaxNode, frame: CompileFrame) => void
  >;
  Object.assign(prototype, {
    compileSymbol(this: Compiler, node: SyntaxNode, frame: CompileFrame) {
      if (isLenient || frame.lookup(node.value as string)) return compileSymbol!.call(this, node, frame);
      this._emit(`runtime.nameAt(${addPlace(this, node)}, context, frame, ${JSON.stringify(node.value)})`);
    },
    compileLookupVal(this: Compiler, node: SyntaxNode, frame: CompileFrame) {
      if (isLenient) return compileLookupVal!.call(this, node, frame);
      this._emit(`runtime.memberAt(${addPlace(this, startOf(node))}, ${JSON.stringify(nameOf(node))}, (`);
      this._compileExpression(node.target, frame);
      this._emit('),');
      this._compileExpression(node.val, frame);
      this._emit(')');
    },
    compileFunCall(this: Compiler, node: SyntaxNode, frame: CompileFrame) {
      this._emit(`runtime.callAt(${addPlace(this, startOf(node))}, `);
      this._compileExpression(node.name, frame);
      this._emit(`, ${JSON.stringify(nameOf(node.name))}, context, `);
      this._compileAggregate(node.args, frame, '[', ']');
      this._emit(')');
    },
    compileFilter(this: Compiler, node: SyntaxNode, frame: CompileFrame) {
      const name = String(node.name.value);
      if (!Object.hasOwn(env.filters, name)) this.fail(`unknown filter: ${name}`, node.name.lineno, node.name.colno);
      this._emit(`runtime.filterAt(${addPlace(this, node.name)}, ${JSON.stringify(name)}, context, `);
      const compileArgs = () => this._compileAggregate(node.args, frame, '[', ']');
      if (FOR_UNKNOWN_FILTERS.has(name)) leniently(compileArgs);
      else compileArgs();
      this._emit(')');
    },
    compileIs(this: Compiler, node: SyntaxNode, frame: CompileFrame) {
      const test = String(node.right.name ? node.right.name.value : node.right.value);
      if (!Object.hasOwn(env.tests, test)) this.fail(`unknown test: ${test}`, node.right.lineno, node.right.colno);
      const compile = () => compileIs!.call(this, node, frame);
      if (FOR_UNKNOWN_TESTS.has(test)) leniently(compile);
      else compile();
    },
  });
}

function changeStatements(
  prototype: Compiler,
  { onReference }: CompilerOptions,
  addPlace: AddPlace,
  places: readonly Place[],
): void {
  const methods = prototype as unknown as Record<string, (this: Compiler, ...args: unknown[]) => unknown>;
  for (const name of STATEMENTS) {
    const compile = methods[`compile${name}`]!;
    methods[`compile${name}`] = function compileAt(node, ...rest) {
      this._emitLine(`runtime.at = ${addPlace(this, node as SyntaxNode)};`);
      return compile.call(this, node, ...rest);
    };
  }
  const blocks = new WeakMap<Compiler, Set<unknown>>();
  const compileBlock = methods.compileBlock!;
  methods.compileBlock = function compileBlockOnce(node, ...rest) {
    const { name, lineno, colno } = node as SyntaxNode;
    const names = blocks.get(this) ?? new Set();
    if (names.has(name.value)) this.fail(`The block ${String(name.value)} is defined twice`, lineno, colno);
    blocks.set(this, names.add(name.value));
    return compileBlock.call(this, node, ...rest);
  };
  Object.assign(prototype, {
    compileOutput(this: Compiler, node: SyntaxNode, frame: CompileFrame) {
      for (const child of node.children) {
        if (child.typename === 'TemplateData') {
          if (!child.value) continue;
          this._emit(`${this.buffer} += `);
          this.compile(child, frame);
          this._emitLine(';');
          continue;
        }
        this._emitLine(`runtime.at = ${addPlace(this, startOf(child))};`);
        this._emit(`${this.buffer} += runtime.suppressValue(`);
        this.compile(child, frame);
        this._emitLine(', env.opts.autoescape);');
      }
    },
    _compileGetTemplate(
      this: Compiler,
      node: SyntaxNode,
      frame: CompileFrame,
      _eager: boolean,
      ignoreMissing: boolean,
    ) {
      const id = this._tmpid();
      const at = addPlace(this, node.template);
      if (node.template.typename === 'Literal' && typeof node.template.value === 'string' && !ignoreMissing)
        onReference(node.template.value, places[at]!);
      this._emit(`runtime.templateAt(${at}, `);
      this._compileExpression(node.template, frame);
      this._emitLine(`, ${JSON.stringify(this.templateName)}, ${Boolean(ignoreMissing)}, ${this._makeCallback(id)}`);
      return id;
    },
  });
}

/** Returns the first node of an expression: its lookups and calls have the place of their point or bracket. */
function startOf(node: SyntaxNode): SyntaxNode {
  if (node.typename === 'LookupVal') return startOf(node.target);
  if (node.typename === 'FunCall') return startOf(node.name);
  if (node.typename === 'Filter') return startOf(node.args.children[0] ?? node);
  return node;
}

/** Returns a name as it is written, e.g. `orders.rows[0]`. */
function nameOf(node: SyntaxNode): string {
  if (node.typename === 'Symbol') return String(node.value);
  if (node.typename === 'FunCall') return `${nameOf(node.name)}()`;
  if (node.typename !== 'LookupVal') return '(…)';
  const { typename, value } = node.val;
  const isName = typename === 'Literal' && typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value);
  const key = typename === 'Literal' ? JSON.stringify(value) : nameOf(node.val);
  return nameOf(node.target) + (isName ? `.${value as string}` : `[${key}]`);
}
