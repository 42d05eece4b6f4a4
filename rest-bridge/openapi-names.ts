import { OperationTypeNode } from 'graphql';
import { capitalize } from '../src/core/capitalize.ts';
import type { Endpoint } from './bridge.ts';
import { toWords } from './words.ts';

/* Names of operations in the OpenAPI document: ids and summaries, after the GraphQL field unless the row has its own. */

const toPascalCase = (words: string): string =>
  words
    .split(/[^A-Za-z0-9]+/)
    .map(capitalize)
    .join('');
const withArticle = (noun: string): string => `${/^(?!user)[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/**
 * Returns the part of a record that a path selects behind its last parameter although the field returns all of it:
 * `owner` for `/datasets/:id/owner` with the field `dataset`.
 */
function partOf({ row, plan }: Endpoint): string | undefined {
  const last = row.path.split('/').at(-1)!;
  if (plan?.operation !== OperationTypeNode.QUERY || last.startsWith(':')) return undefined;
  const isOfLeaf = [...plan.bound.values()].some(({ segment }) => segment === plan.chain.length - 1);
  return isOfLeaf ? last : undefined;
}

/** Returns the id of an operation, after its GraphQL field: `listDatasets`, `getDatasetOwner`, `createDataset`. */
export function operationId(endpoint: Endpoint): string {
  const { row, plan, presentation } = endpoint;
  if (row.options.id !== undefined) return row.options.id;
  if (!plan) return `${row.method.toLowerCase()}${toPascalCase(row.path)}`;
  const names = plan.chain.map(({ name }) => name);
  if (plan.operation !== OperationTypeNode.QUERY) return names.at(-1)!;
  const verb = row.method === 'GET' ? (presentation?.collection ? 'list' : 'get') : row.method.toLowerCase();
  return `${verb}${names.map(capitalize).join('')}${toPascalCase(partOf(endpoint) ?? '')}`;
}

const MAX_SUMMARY = 90;

/** Returns the beginning of a description: the first sentence, or the first part of a long one. */
function beginningOf(description: string): string {
  const sentence = /^.*?(?=\.\s+[A-Z`]|\.?$|: |; )/m.exec(description)![0];
  return sentence.length > MAX_SUMMARY ? sentence.split(', ')[0]! : sentence;
}

/** Returns the summary of a field below another one, e.g. `Lists the shares of a dataset`. */
function summaryOfPart(endpoint: Endpoint, part: string, whole: string): string {
  if (part === 'favorite') return `Returns whether ${withArticle(whole)} is a favourite of the caller`;
  if (part === 'permissions') return `Returns the permissions of the caller on ${withArticle(whole)}`;
  const verb = endpoint.presentation?.collection ? 'Lists' : 'Returns';
  const isOneOfMany = /:\w+$/.test(endpoint.row.path);
  return `${verb} ${isOneOfMany ? withArticle(part) : `the ${part}`} of ${withArticle(whole)}`;
}

const ARTICLES = ['a', 'an', 'the', 'its'];
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\w’]+/g) ?? [];
/** Returns whether a text has all words of another one. */
const covers = (text: string, other: string): boolean => {
  const words = new Set([...wordsOf(text), ...ARTICLES]);
  return wordsOf(other).every((word) => words.has(word));
};

/**
 * Returns the sentences of the field's description that are true in REST: not those about one of the APIs, nor about a
 * result that the response does not contain. A null is 404.
 */
function sentencesOf({ row, plan, presentation }: Endpoint): string[] {
  const description = plan?.chain.at(-1)?.field.description ?? '';
  // A presenter with a shape of its own prints something else than the argument.
  const missing = !presentation ? /^Returns / : presentation.shape ? /^Returns the `/ : /(?!)/;
  return description
    .split(/(?<=\.)(?<!e\.g\.|i\.e\.)\s+(?=[A-Z`])/)
    .filter((sentence) => !/\b(?:GraphQL|REST)\b/.test(sentence) && !missing.test(sentence))
    .map((sentence) => (row.options.nullable ? sentence : sentence.replace(/^Null\b/, 'Fails with `NOT_FOUND`')));
}

/**
 * Returns summary and description of an operation: the first sentence of the field's description and the rest, without
 * what the summary says already. Fields of a record are described without a verb, so that their summary is derived from
 * their names. The row may have its own.
 */
export function describe(endpoint: Endpoint): { summary: string; description?: string } {
  const { summary: own, description: ownDescription } = endpoint.row.options;
  if (own !== undefined && ownDescription !== undefined) return { summary: own, description: ownDescription };
  const names = endpoint.plan?.chain.map(({ name }) => toWords(name)) ?? [];
  const part = partOf(endpoint);
  if (part !== undefined) return { summary: own ?? summaryOfPart(endpoint, part, names.at(-1)!) };
  const sentences = sentencesOf(endpoint);
  const beginning = beginningOf(sentences[0] ?? '');
  const summary =
    own ??
    (names.length > 1 ? summaryOfPart(endpoint, names.at(-1)!, names.at(-2)!) : beginning || operationId(endpoint));
  const isSaid = (sentence: string, index: number) =>
    covers(summary, sentence) || (own !== undefined && index === 0 && covers(sentence, own));
  const description = sentences.filter((sentence, index) => !isSaid(sentence, index)).join(' ');
  return { summary, ...(description && { description }) };
}
