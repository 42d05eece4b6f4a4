import type { ParameterDefinition } from '../../core/parameters.ts';
import type { VisualComponent } from '../../core/visual/component.ts';

interface DemoQuery {
  name: string;
  slug: string;
  description: string;
  query: string;
  params: ParameterDefinition[];
}
interface DemoVisual {
  name: string;
  component: VisualComponent;
  config: Record<string, unknown>;
}
interface DemoDataset {
  name: string;
  slug: string;
  description: string;
  follows?: string;
  query?: string;
  visuals: DemoVisual[];
}

/** The folders of the demo: all of it lies in the first, its queries in the second, which lies in the first. */
export const DEMO_FOLDERS = { shop: 'Demo shop', queries: 'Queries' } as const;

/** The saved queries of the demo. Dates are relative to `now`: the shop's data ends on the day it is made. */
export function demoQueries(now: Date): DemoQuery[] {
  const yearAgo = new Date(Date.UTC(now.getUTCFullYear() - 1, now.getUTCMonth(), 1)).toISOString().slice(0, 10);
  return [
    {
      name: 'Orders since',
      slug: 'orders-since',
      description: 'Orders with their customers, from a day on, of one country or of all.',
      query: `select o.id, o.ordered_at, o.status, o.channel, o.items, o.shipping, o.total,
       c.name as customer, c.country, c.city, c.segment
from orders o
join customers c on c.id = o.customer_id
where o.ordered_at >= {{since}}
  and c.country = coalesce({{country}}, c.country)
order by o.ordered_at`,
      params: [
        {
          name: 'since',
          label: 'Since',
          dataType: 'date',
          defaultValue: yearAgo,
          required: true,
          description: 'The first day.',
        },
        {
          name: 'country',
          label: 'Country',
          dataType: 'string',
          defaultValue: null,
          description: 'The customer’s country; all of them without.',
        },
      ],
    },
    {
      name: 'Sales by month',
      slug: 'sales-by-month',
      description: 'What each category sold in each month, in euro.',
      query: `select date_trunc('month', o.ordered_at at time zone 'UTC')::date as month, g.name as category,
       count(distinct o.id) as orders, sum(i.quantity) as pieces, sum(i.amount) as amount
from orders o
join order_items i on i.order_id = o.id
join products p on p.id = i.product_id
join categories g on g.id = p.category_id
where o.status not in ('cancelled', 'returned')
group by 1, 2
order by 1, 2`,
      params: [],
    },
  ];
}

/** The datasets of the demo: two that follow a saved query, one with a text of its own. */
export const DEMO_DATASETS: readonly DemoDataset[] = [
  {
    name: 'Orders of the last year',
    slug: 'orders',
    description: 'Follows the saved query “Orders since”.',
    follows: 'orders-since',
    visuals: [
      {
        name: 'Orders by week',
        component: 'line-chart',
        config: { xAxis: 'ordered_at', dateInterval: 'week', groupBy: 'channel' },
      },
      { name: 'Turnover', component: 'card', config: { valueField: 'total', aggregation: 'sum', format: 'EUR' } },
      {
        name: 'Countries',
        component: 'bar-chart',
        config: {
          xAxis: 'country',
          yAxis: 'total',
          aggregation: 'sum',
          orientation: 'horizontal',
          showDataLabels: true,
        },
      },
    ],
  },
  {
    name: 'Sales by month',
    slug: 'sales-by-month',
    description: 'Follows the saved query of the same name.',
    follows: 'sales-by-month',
    visuals: [
      {
        name: 'Sales by category',
        component: 'bar-chart',
        config: { xAxis: 'month', yAxis: 'amount', aggregation: 'sum', groupBy: 'category', stacked: true },
      },
      {
        name: 'Shares of the categories',
        component: 'pie-chart',
        config: { categoryField: 'category', valueField: 'amount', aggregation: 'sum' },
      },
    ],
  },
  {
    name: 'Customers',
    slug: 'customers',
    description: 'Every customer with what they ordered so far.',
    query: `select c.id, c.name, c.email, c.country, c.city, c.segment, c.company, c.birth_date, c.newsletter, c.registered_at,
       count(o.id) as orders, coalesce(sum(o.total), 0) as revenue, max(o.ordered_at) as last_order_at
from customers c
left join orders o on o.customer_id = c.id
group by c.id
order by c.id`,
    visuals: [
      {
        name: 'Revenue by segment and country',
        component: 'heatmap',
        config: { xAxis: 'segment', yAxis: 'country', valueField: 'revenue', aggregation: 'avg' },
      },
      {
        name: 'Best customers',
        component: 'table',
        config: {
          columns: ['name', 'country', 'segment', 'orders', 'revenue'],
          sortBy: 'revenue',
          sortOrder: 'desc',
          pageSize: 10,
        },
      },
    ],
  },
];

/** The report of the demo: which datasets it shows under which alias, and what of them. A block of a visual names it by its name. */
export const DEMO_REPORT = {
  name: 'How the shop is doing',
  slug: 'how-the-shop-is-doing',
  description: 'Turnover, categories and the best customers on one page.',
  references: { orders: 'Orders', 'sales-by-month': 'Sales', customers: 'Customers' },
  blocks: [
    { id: 'head', type: 'text', text: '# How the shop is doing' },
    { id: 'turnover', type: 'visual', dataset: 'orders', visual: 'Turnover' },
    { id: 'weeks', type: 'visual', dataset: 'orders', visual: 'Orders by week' },
    { id: 'categories', type: 'visual', dataset: 'sales-by-month', visual: 'Sales by category' },
    {
      id: 'customers',
      type: 'table',
      dataset: 'customers',
      fields: ['name', 'country', 'orders', 'revenue'],
      sort: '-revenue',
      limit: 10,
    },
  ],
} as const;
