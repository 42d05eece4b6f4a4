/* The files of the template of the demo. */

/** The mark of the shop: three bars in a rounded square. */
const MARK = `
  <rect width="40" height="40" rx="10" fill="#1f5c57"/>
  <rect x="10" y="21" width="5" height="9" rx="1.5" fill="#fff"/>
  <rect x="17.5" y="15" width="5" height="15" rx="1.5" fill="#fff"/>
  <rect x="25" y="10" width="5" height="20" rx="1.5" fill="#f2b84b"/>`;

/** Attributes of texts in the pictures. */
const TEXT = `font-family="'Noto Sans', Helvetica, Arial, sans-serif"`;

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 220 40" width="220" height="40" role="img" aria-label="Demo shop">
  ${MARK}
  <text x="52" y="27.5" ${TEXT} font-size="22" font-weight="700" fill="#17302e">Demo shop</text>
</svg>
`;

/** A page of A4 in millimetres, which is laid under the text. */
const LETTERHEAD = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 210 297" width="210mm" height="297mm">
  <rect width="210" height="3" fill="#1f5c57"/>
  <rect x="150" width="60" height="3" fill="#f2b84b"/>
  <g transform="translate(20 12) scale(0.3)">${MARK}</g>
  <text x="35.5" y="20.3" ${TEXT} font-size="6.4" font-weight="700" fill="#17302e">Demo shop</text>
  <text x="190" y="18" text-anchor="end" ${TEXT} font-size="2.9" fill="#6b7d7b">Example Street 1 · 10115 Berlin</text>
  <text x="190" y="22" text-anchor="end" ${TEXT} font-size="2.9" fill="#6b7d7b">sales@shop.example</text>
  <line x1="20" x2="190" y1="28" y2="28" stroke="#d5dfdd" stroke-width="0.25"/>
  <line x1="20" x2="190" y1="281" y2="281" stroke="#d5dfdd" stroke-width="0.25"/>
</svg>
`;

const STYLE = `* { box-sizing: border-box; }
body { margin: 0; color: #17302e; font: 10pt/1.45 'Noto Sans', 'Helvetica Neue', Helvetica, Arial, sans-serif; }
h1 { margin: 0 0 1mm; font-size: 20pt; line-height: 1.2; letter-spacing: -0.01em; }
h2 { margin: 7mm 0 2mm; font-size: 12pt; break-after: avoid; }
.lead { margin: 0 0 6mm; color: #5a6b69; }
.figures { display: flex; gap: 5mm; }
.figure { flex: 1; padding: 3.5mm 4mm; border-radius: 2mm; background: #eef4f3; }
.figure span { display: block; color: #5a6b69; font-size: 8.5pt; }
.figure b { font-size: 15pt; }
.chart { break-inside: avoid; }
.chart svg { display: block; width: 100%; height: auto; }
table { width: 100%; border-collapse: collapse; font-size: 8.5pt; }
th, td { padding: 1.3mm 2mm; text-align: left; vertical-align: baseline; }
th { color: #fff; background: #1f5c57; font-weight: 600; }
tbody tr { break-inside: avoid; }
tbody tr:nth-child(even) { background: #f4f8f7; }
tfoot { display: table-row-group; }
tfoot td { border-top: 0.4mm solid #1f5c57; font-weight: 700; }
.right { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.state { padding: 0.2mm 2mm; border-radius: 3mm; background: #e1ebe9; font-size: 7.5pt; }
.returned, .cancelled { background: #fbe3d6; }
.note { color: #5a6b69; font-size: 8.5pt; }
.screen { display: none; }
@media screen {
  html { background: #e6edec; }
  body { max-width: 210mm; margin: 8mm auto; padding: 14mm 20mm; background: #fff; box-shadow: 0 1mm 6mm #17302e22; }
  .screen { display: block; margin-bottom: 8mm; padding-bottom: 5mm; border-bottom: 0.25mm solid #d5dfdd; }
}
`;

const PAGE = `<!doctype html>
<html lang="{{ locale or 'en' }}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>{{ title }}</title>
    <style>{% include "style.css" %}</style>
  </head>
  <body>
    <p class="screen"><img src="{{ asset('logo.svg') }}" alt="Demo shop"></p>
    {% block content %}{% endblock %}
  </body>
</html>
`;

const REPORT = `{% set title = 'Sales report: ' + inputs.country %}
{% set total = totals.rows[0] %}
{% extends "page.html" %}
{% block content %}
    <h1>Sales in {{ inputs.country }}</h1>
    <p class="lead">
      Orders since {{ inputs.since | date('long') }}, for {{ user.name }} on {{ now | date('long') }}
    </p>

    <div class="figures">
      <div class="figure"><span>Orders</span><b>{{ total.orders | number }}</b></div>
      <div class="figure"><span>Sales</span><b>{{ (total.amount or 0) | currency('EUR') }}</b></div>
      <div class="figure"><span>Average order</span><b>{{ (total.average or 0) | currency('EUR') }}</b></div>
    </div>

    <div class="chart">
      <h2>Sales of the last year by country</h2>
      {{ countries.svg | safe }}
    </div>

    <h2>Orders</h2>
    <table>
      <thead>
        <tr>
          <th class="right">No.</th><th>Date</th><th>Customer</th><th>City</th><th>Channel</th><th>State</th>
          <th class="right">Total</th>
        </tr>
      </thead>
      <tbody>
        {%- for order in orders.rows %}
        <tr>
          <td class="right">{{ order.id }}</td>
          <td>{{ order.ordered_at | date('medium') }}</td>
          <td>{{ order.customer }}</td>
          <td>{{ order.city }}</td>
          <td>{{ order.channel }}</td>
          <td><span class="state {{ order.status }}">{{ order.status }}</span></td>
          <td class="right">{{ order.total | currency('EUR') }}</td>
        </tr>
        {%- else %}
        <tr><td colspan="7">No orders</td></tr>
        {%- endfor %}
      </tbody>
      <tfoot>
        <tr>
          <td colspan="6">All {{ total.orders | number }} orders</td>
          <td class="right">{{ (total.amount or 0) | currency('EUR') }}</td>
        </tr>
      </tfoot>
    </table>
    {%- if orders.truncated %}
    <p class="note">The table has the latest {{ orders.rows | length | number }} of {{ orders.total | number }} orders.</p>
    {%- endif %}
{% endblock %}
`;

const CSV = `id,ordered_at,customer,city,channel,status,total
{% for order in orders.rows -%}
{{ order.id }},{{ order.ordered_at }},{{ order.customer | csv }},{{ order.city | csv }},
{{- order.channel | csv }},{{ order.status | csv }},{{ order.total }}
{% endfor -%}
`;

/** Names of the files that others refer to. */
export const REPORT_FILE = 'report.njk';
export const LETTERHEAD_FILE = 'letterhead.svg';

/** A file of the template. */
interface DemoTemplateFile {
  filename: string;
  role: 'TEMPLATE' | 'ASSET';
  content: string;
  /** Whether another file contains it. */
  embedded?: boolean;
}

/** The files of the template. The first one is rendered. */
export const DEMO_TEMPLATE_FILES: readonly DemoTemplateFile[] = [
  { filename: REPORT_FILE, role: 'TEMPLATE', content: REPORT },
  { filename: 'report.csv.njk', role: 'TEMPLATE', content: CSV },
  { filename: 'page.html', role: 'TEMPLATE', content: PAGE, embedded: true },
  { filename: 'style.css', role: 'TEMPLATE', content: STYLE, embedded: true },
  { filename: 'logo.svg', role: 'ASSET', content: LOGO },
  { filename: LETTERHEAD_FILE, role: 'ASSET', content: LETTERHEAD },
];
