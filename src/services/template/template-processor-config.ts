import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TemplateProcessorType } from '../../../entities/template-processor.ts';
import { isObject } from '../../core/criteria/value.ts';
import { badInput } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { schemaIssue } from '../resource/schema-validation.ts';
import { processorOf } from './processors/processor-registry.ts';
import type { Binding } from './processors/processor.ts';
import type { JsonPath } from './template-input-subschemas.ts';

/** Key of an object that stands for the value of an input. */
const MARKER = '$input';

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });

type Config = Record<string, unknown>;
type Marker = Omit<Binding, 'value'>;

/**
 * Checks a config before it is saved; renderings check the values that stand for inputs. `path` is the path of the
 * config, `inputs` are the names of all inputs. Throws BAD_USER_INPUT naming each invalid and unknown key.
 */
export function checkConfig(
  type: TemplateProcessorType,
  config: Config,
  path: JsonPath,
  inputs: ReadonlySet<string>,
): void {
  const markers = findMarkers(config, path);
  for (const { path: at, input } of markers)
    if (!inputs.has(input))
      throw invalid([...path, ...at, MARKER].join('.'), `names no input of the template: ${input.slice(0, 100)}`);
  const errors = problemsOf(type, config).filter(({ instancePath }) => !markers.some((at) => isAt(instancePath, at)));
  throwProblems(errors, (error) => schemaIssue(error, path));
}

/**
 * Returns a config with the values of inputs, and where they are. Throws BAD_USER_INPUT for a value that does not fit,
 * with the path `params.<name>`.
 */
export function bindConfig(
  { name, type, config }: { name: string; type: TemplateProcessorType; config: Config },
  values: Readonly<Record<string, unknown>>,
): { config: Config; bindings: Binding[] } {
  const path = ['processors', name, 'config'];
  const bindings = findMarkers(config, path).map(({ path: at, input }) => {
    if (!Object.hasOwn(values, input))
      throw invalid([...path, ...at, MARKER].join('.'), `names no input of the template: ${input.slice(0, 100)}`);
    const value = values[input];
    // An object there would be operators instead of a value.
    if (at[0] === 'filter' && at.length > 1 && !isPlain(value))
      throw invalid(`params.${input}`, 'must be a text, number, boolean, null or a list of these, as a filter uses it');
    return { path: at, input, value };
  });
  const bound = replaceMarkers(config, values) as Config;
  throwProblems(problemsOf(type, bound), (error) => {
    const binding = bindings.find((at) => isAt(error.instancePath, at));
    if (!binding) return schemaIssue(error, path);
    return { ...schemaIssue(error, path), ...refusedIssue(binding.input, `${error.message}`), code: error.keyword };
  });
  return { config: bound, bindings };
}

/** Returns the issue of an input whose value a processor refuses. */
export const refusedIssue = (input: string, message: string) => ({
  path: ['params', input],
  message: `params.${input} ${message}`,
  code: 'invalid',
});

const compiled = new Map<TemplateProcessorType, ValidateFunction>();

function problemsOf(type: TemplateProcessorType, config: Config): ErrorObject[] {
  let validate = compiled.get(type);
  if (!validate) compiled.set(type, (validate = ajv.compile(processorOf(type).schema)));
  return validate(config) ? [] : validate.errors!;
}

function throwProblems(
  errors: readonly ErrorObject[],
  issueOf: (error: ErrorObject) => ReturnType<typeof schemaIssue>,
) {
  if (errors.length === 0) return;
  const validation = errors.slice(0, 20).map(issueOf);
  throw badInput(validation[0]!.message, { validation });
}

/** Returns whether a JSON pointer points at a marker or below it. */
function isAt(pointer: string, { path }: Marker): boolean {
  const start = path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return pointer === start || pointer.startsWith(`${start}/`);
}

/** Returns the markers within a config. Throws BAD_USER_INPUT for one that is malformed. */
function findMarkers(config: Config, root: JsonPath): Marker[] {
  const found: Marker[] = [];
  const visit = (value: unknown, path: JsonPath) => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, [...path, index]);
    else if (isMarker(value) && path.length > 0) {
      const input = value[MARKER];
      if (typeof input !== 'string' || Object.keys(value).length > 1)
        throw invalid([...root, ...path].join('.'), `must be {"${MARKER}": "name of an input"} without other keys`);
      found.push({ path, input });
    } else if (isObject(value)) for (const [key, item] of Object.entries(value)) visit(item, [...path, key]);
  };
  visit(config, []);
  return found;
}

const isMarker = (value: unknown): value is Config => isObject(value) && Object.hasOwn(value, MARKER);

const replaceMarkers = (value: unknown, values: Readonly<Record<string, unknown>>): unknown => {
  if (Array.isArray(value)) return value.map((item) => replaceMarkers(item, values));
  if (isMarker(value)) return values[value[MARKER] as string];
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceMarkers(item, values)]));
};

const isScalar = (value: unknown): boolean => value === null || typeof value !== 'object';
const isPlain = (value: unknown): boolean => isScalar(value) || (Array.isArray(value) && value.every(isScalar));
