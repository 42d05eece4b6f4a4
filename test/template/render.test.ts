import { describe, expect } from 'vitest';
import { createRenderable, render, renderByGraphql, addFile, test } from './render-fixture.ts';

const HELLO = { files: { 'hello.njk': '<p>Hello {{ user.username }} & {{ "<b>" }}</p>' } };

describe('_render', () => {
  test('returns the bytes of the document, and its address', async ({ ann }) => {
    const { path, id } = await createRenderable(ann, HELLO);
    const { status, headers, text } = await render(ann, path);
    expect({ status, text }).toEqual({ status: 200, text: '<p>Hello ann & &lt;b&gt;</p>' });
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="report(-\d+)?\.html"$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch(/sandbox/);
    const location = headers.get('location')!;
    expect(location).toMatch(new RegExp(`^/api/templates/${id}/renditions/[0-9a-f-]{36}$`));
    const { body } = await ann.get(location.slice(4));
    expect(body).toMatchObject({ templateId: id, handler: 'html', size: text.length, pages: null });
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBeGreaterThan(23.9 * 3_600_000);
  });

  test('returns the rendition and its text by GraphQL', async ({ ann }) => {
    const { id } = await createRenderable(ann, HELLO);
    const { data, errors } = await renderByGraphql(ann, id, { handler: 'text', filename: 'Greeting 1/2' });
    expect(errors).toBeUndefined();
    const { operation, result } = data.renderTemplate;
    expect(operation).toMatchObject({ operation: 'TEMPLATE_RENDER', status: 'SUCCEEDED', percent: 100 });
    expect(result).toMatchObject({
      templateId: id,
      handler: 'text',
      filename: 'Greeting 1-2.txt',
      contentType: 'text/plain; charset=utf-8',
      pages: null,
      contentsUrl: `/api/templates/${id}/renditions/${result.id}/contents`,
    });
    expect(result.text).toMatch(/^<p>Hello ann/);
  });

  test('renders another TEMPLATE file and another handler', async ({ ann }) => {
    const { path } = await createRenderable(ann, { ...HELLO, assets: { 'logo.svg': '<svg/>' } });
    const templateFileId = await addFile(ann, path, 'TEMPLATE', 'list.csv.njk', 'a,b\n1,{{ 1 + 1 }}\n');
    const { status, text, headers } = await render(ann, path, { templateFileId, handler: 'csv', filename: 'List.CSV' });
    expect({ status, text }).toEqual({ status: 200, text: 'a,b\n1,2\n' });
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(/filename="List.CSV"/);
  });

  test('prints a PDF', async ({ ann }) => {
    const { path } = await createRenderable(ann, HELLO, { handler: 'pdf' });
    const { status, headers, bytes } = await render(ann, path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/pdf');
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
    expect((await ann.get(headers.get('location')!.slice(4))).body).toMatchObject({ pages: 1, handler: 'pdf' });
  });
});
