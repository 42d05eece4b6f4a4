import type { ParameterDefinition } from '../core/parameters.ts';

interface DemoQuery { name: string; slug: string; description: string; query: string; params: ParameterDefinition[] }
interface DemoDataset { name: string; slug: string; description: string; follows?: string; query?: string }

/** The folders of the demo: all of it lies in the first, its queries in the second, which lies in the first. */
export const DEMO_FOLDERS = { shop: 'Demo shop', queries: 'Queries' } as const;

/** The saved queries of the demo. Dates are relative to `now`: the shop's data ends on the day it is made. */
export function demoQueries(now: Date): DemoQuery[] {
  const yearAgo = new Date(Date.UTC(now.getUTCFullYear() - 1, now.getUTCMonth(), 1)).toISOString().slice(0, 10);
  return [
    {
      name: 'Orders since', slug: 'orders-since', description: 'Orders with their customers, from a day on, of one country or of all.',
      query: `select o.id, o.ordered_at, o.status, o.channel, o.items, o.shipping, o.total,
       c.name as customer, c.country, c.city, c.segment
from orders o
join customers c on c.id = o.customer_id
where o.ordered_at >= {{since}}
  and c.country = coalesce({{country}}, c.country)
order by o.ordered_at`,
      params: [
        { name: 'since', label: 'Since', dataType: 'date', defaultValue: yearAgo, required: true, description: 'The first day.' },
        { name: 'country', label: 'Country', dataType: 'string', defaultValue: null, description: 'The customer’s country; all of them without.' },
      ],
    },
    {
      name: 'Sales by month', slug: 'sales-by-month', description: 'What each category sold in each month, in euro.',
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
  { name: 'Orders of the last year', slug: 'orders', description: 'Follows the saved query “Orders since”.', follows: 'orders-since' },
  { name: 'Sales by month', slug: 'sales-by-month', description: 'Follows the saved query of the same name.', follows: 'sales-by-month' },
  {
    name: 'Customers', slug: 'customers', description: 'Every customer with what they ordered so far.',
    query: `select c.id, c.name, c.email, c.country, c.city, c.segment, c.company, c.birth_date, c.newsletter, c.registered_at,
       count(o.id) as orders, coalesce(sum(o.total), 0) as revenue, max(o.ordered_at) as last_order_at
from customers c
left join orders o on o.customer_id = c.id
group by c.id
order by c.id`,
  },
];
