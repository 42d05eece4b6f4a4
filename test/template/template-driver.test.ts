import { expect } from 'vitest';
import { expectError } from '../support/expect.ts';
import { test } from './template-fixture.ts';

interface Driver {
  id: string;
  extensions: string[];
  handlers: { id: string; contentType: string; optionsSchema: object }[];
}

test('the template drivers are listed in both APIs, with the handlers that templates accept', async ({
  ann,
  anonymous,
}) => {
  await expectError(anonymous.get('/template-drivers'), 401);
  const { body } = await ann.get('/template-drivers');
  const drivers: Driver[] = body._embedded['svc:template-driver'];
  const QUERY = `{ templateDrivers { id name description extensions handlers { id name contentType optionsSchema } } }`;
  expect((await ann.data(QUERY)).templateDrivers).toEqual(drivers);
  expect(Object.fromEntries(drivers.map(({ id, handlers }) => [id, handlers.map((handler) => handler.id)]))).toEqual({
    nunjucks: ['html', 'pdf', 'text', 'csv'],
    docx: ['docx'],
  });
  expect(Object.fromEntries(drivers.map(({ id, extensions }) => [id, extensions]))).toEqual({
    nunjucks: ['njk', 'html', 'htm', 'txt', 'csv', 'md', 'xml', 'json'],
    docx: ['docx'],
  });
  const types = Object.fromEntries(drivers.flatMap(({ handlers }) => handlers.map((one) => [one.id, one.contentType])));
  expect(types).toMatchObject({ pdf: 'application/pdf', html: expect.stringMatching(/^text\/html/) });
});
