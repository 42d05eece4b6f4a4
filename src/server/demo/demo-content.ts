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
  /** Slug of the saved query that the dataset follows. */
  follows?: string;
  query?: string;
  visuals: DemoVisual[];
}

/** Folders of the demo. `shop` contains everything, and the folder `queries` with the saved queries. */
export const DEMO_FOLDERS = { shop: 'Demo shop', queries: 'Queries' } as const;

/**
 * Returns the saved queries of the demo. Dates are relative to `now`, because the shop's data ends on the day of its
 * creation.
 */
export function demoQueries(now: Date): DemoQuery[] {
  const yearAgo = new Date(Date.UTC(now.getUTCFullYear() - 1, now.getUTCMonth(), 1)).toISOString().slice(0, 10);
  return [
    {
      name: 'Orders since',
      slug: 'orders-since',
      description: 'Orders with their customers since a date, of one country or of all countries.',
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
          description: 'First date.',
        },
        {
          name: 'country',
          label: 'Country',
          dataType: 'string',
          defaultValue: null,
          description: 'Country of the customer. All countries if empty.',
        },
      ],
    },
    {
      name: 'Sales by month',
      slug: 'sales-by-month',
      description: 'Sales of each category by month, in euro.',
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

/** The datasets of the demo: two that follow a saved query, one with its own query. */
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
    description: 'All customers with the number and total of their orders.',
    query: `select c.id, c.name, c.email, c.country, c.city, c.segment, c.company, c.birth_date, c.newsletter,
       c.registered_at, count(o.id) as orders, coalesce(sum(o.total), 0) as revenue, max(o.ordered_at) as last_order_at
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

/** The report of the demo: its datasets by alias, and its blocks. A block refers to a visual by name. */
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
