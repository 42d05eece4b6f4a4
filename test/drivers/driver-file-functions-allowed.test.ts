import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { queryInProcess, useUploads } from './driver-file-fixture.ts';

const { files, detectConfig } = useUploads();

describe('ordinary queries run', () => {
  let config: Record<string, unknown> | null;
  const SALES = [
    'id,region,product,amount,price,day,moment,paid,note',
    '1,EU,chair,2,9.5,2024-01-15,2024-01-15T08:30:00Z,true,red wood',
    '2,US,table,1,99.0,2024-02-10,2024-02-10T12:00:00Z,false,',
    '3,EU,table,3,89.0,2024-02-20,2024-02-20T23:59:59Z,true,Oak (old)',
    '4,APAC,lamp,,15.25,2024-03-01,2024-03-01T00:00:00Z,true,"{""k"": [1, 2]}"',
  ].join('\n');

  async function query(text: string): Promise<unknown[][]> {
    await writeFile(files.path('sales'), SALES);
    config ??= await detectConfig('sales', 'sales.csv');
    return queryInProcess(files.path('sales'), config!, text);
  }

  test.each([
    [
      'select count(*), sum(amount), round(avg(price), 2), min(day)::text, max(day)::text from data',
      [4, 6, 53.19, '2024-01-15', '2024-03-01'],
    ],
    [
      "select string_agg(distinct region, '/' order by region), group_concat(id, '-' order by id desc) from data",
      ['APAC/EU/US', '4-3-2-1'],
    ],
    [
      'select median(price), quantile_cont(price, 0.5), percentile_cont(0.5) within group (order by price), mode(region) from data',
      [52.125, 52.125, 52.125, 'EU'],
    ],
    [
      'select count_if(paid), count(*) filter (where paid), bool_and(paid), any_value(region) is not null from data',
      [3, 3, false, true],
    ],
    [
      'select arg_max(product, price), max_by(product, price), first(id order by id), last(id order by id) from data',
      ['table', 'table', 1, 4],
    ],
    [
      'select round(stddev_pop(price), 3), round(var_samp(price), 3), round(corr(amount, price), 3) from data',
      [41.016, 2243.057, -0.102],
    ],
    ['select approx_count_distinct(region), histogram(paid)[true], entropy(region) from data', [3, 3, 1.5]],
    [
      'select regr_slope(price, id), covar_pop(id, price), skewness(id), round(kurtosis(id), 3) from data',
      [0.725, 0.90625, 0, -1.2],
    ],
    [
      'select upper(region), lower(product), length(product), left(product, 2), right(product, 2), reverse(product) from data where id = 1',
      ['EU', 'chair', 5, 'ch', 'ir', 'riahc'],
    ],
    [
      `select trim(' a '), ltrim('xa', 'x'), lpad('7', 3, '0'), rpad('7', 3, '0'), repeat('ab', 2), replace('aba', 'a', 'c')`,
      ['a', 'a', '007', '700', 'abab', 'cbc'],
    ],
    [
      `select concat('a', 1, null), concat_ws('-', 'a', 'b'), 'a' || 'b', format('{} of {}', 1, 2), printf('%03d', 7)`,
      ['a1', 'a-b', 'ab', '1 of 2', '007'],
    ],
    [
      `select split_part('a-b-c', '-', 2), string_split('a b', ' '), substring('abcdef', 2, 3), substring('abc'
        from 2 for 1), position('b' in 'abc'), strpos('abc', 'c')`,
      ['b', ['a', 'b'], 'bcd', 'b', 2, 3],
    ],
    [
      `select regexp_matches(product, '^t'), regexp_extract(product, '(t)(a)', 2), regexp_replace(product, 'a',
        'o', 'g'), regexp_extract_all('a1b2', '\\d'), product ~ 'table' from data where id = 2`,
      [true, 'a', 'toble', ['1', '2'], true],
    ],
    [
      `select 'abc' like 'a%', 'abc' not like 'a%', 'abc' ilike 'A_c', 'abc' not ilike 'x', 'a%' like 'a!%'
        escape '!', 'abc' similar to 'a.c', 'abc' glob 'a*'`,
      [true, false, true, true, true, true, true],
    ],
    [
      `select starts_with('abc', 'a'), contains('abc', 'b'), ends_with('abc', 'c'), levenshtein('abc', 'abd'),
        strip_accents('é'), md5('a'), sha256('a') is not null`,
      [true, true, true, 1, 'e', '0cc175b9c0f1b6a831c399e269772661', true],
    ],
    [
      `select abs(-2), @ -2, ceil(1.2), floor(1.8), round(1.25, 1), trunc(1.9), 7 // 2, 7 % 4, 2 ** 3, 2 ^ 3, sign(-3), mod(7, 4)`,
      [2, 2, 2, 1, 1.3, 1, 3, 3, 8, 8, -1, 3],
    ],
    [
      `select sqrt(9), exp(0), ln(1), log10(100), log2(8), power(2, 5), pi() > 3, greatest(1, 3, 2), least(1, 3,
        2), factorial(4), 4!, gcd(12, 8)`,
      [3, 1, 0, 2, 3, 32, true, 3, 1, 24, 24, 4],
    ],
    [
      'select 6 & 3, 6 | 3, ~1, 1 << 3, 8 >> 2, xor(6, 3), bit_count(7::int), isnan(1.0::double), isfinite(1.0::double)',
      [2, 7, -2, 8, 2, 5, 3, false, true],
    ],
    [
      `select coalesce(null, 2), nullif(1, 1), ifnull(null, 3), if(true, 'y', 'n'), case when 1 = 1 then 'a'
        else 'b' end, try_cast('x' as int), typeof(1)`,
      [2, null, 3, 'y', 'a', null, 'INTEGER'],
    ],
    [
      `select year(day), month(day), day(day), quarter(day), dayofweek(day), dayname(day), monthname(day),
        extract(year from day), date_part('week', day) from data where id = 1`,
      [2024, 1, 15, 1, 1, 'Monday', 'January', 2024, 3],
    ],
    [
      `select date_trunc('month', day)::text, (day + interval 1 month)::text, (day - interval '3 days')::text,
        date_diff('day', day, date '2024-02-01'), last_day(day)::text, (day + 1)::text from data where id = 1`,
      ['2024-01-01 00:00:00', '2024-02-15 00:00:00', '2024-01-12 00:00:00', 17, '2024-01-31', '2024-01-16'],
    ],
    [
      `select strftime(day, '%Y/%m'), strptime('15.01.2024', '%d.%m.%Y')::date::text, make_date(2024, 2,
        3)::text, to_timestamp(0)::text, epoch(timestamp '1970-01-02'), age(date '2024-03-01', date
        '2024-01-01')::text from data where id = 1`,
      ['2024/01', '2024-01-15', '2024-02-03', '1970-01-01 00:00:00+00', 86400, '2 months'],
    ],
    [
      `select hour(moment), minute(moment), (moment at time zone 'Europe/Berlin')::text, time_bucket(interval
        '7 days', day)::text, timezone('UTC', moment) is not null from data where id = 1`,
      [8, 30, '2024-01-15 07:30:00+00', '2024-01-15', true],
    ],
    [
      `select now() > timestamp '2024-01-01', current_date >= date '2024-01-01', today() >= date '2024-01-01',
        current_timestamp is not null, localtimestamp is not null, get_current_timestamp() is not null`,
      [true, true, true, true, true, true],
    ],
    [
      'select random() < 1, gen_random_uuid() is not null, hash(1) = hash(1), uuid() <> uuid()',
      [true, true, true, true],
    ],
    [
      `select [1, 2][1], list_sum([1, 2]), list_sort([2, 1]), list_distinct([1, 1]), array_length([1, 2]),
        len([1]), list_contains([1], 1), 1 in [1, 2], [1] || [2], list_aggregate([1, 2], 'max')`,
      [1, 3, [1, 2], [1], 2, 1, true, true, [1, 2], 2],
    ],
    [
      `select list_transform([1, 2], x -> x + 1), list_filter([1, 2], lambda x: x > 1), list_reduce([1, 2, 3],
        (a, b) -> a + b), [x * 2 for x in [1, 2, 3] if x > 1], [1, 2, 3][2:3], list_zip([1], [2])`,
      [[2, 3], [2], 6, [4, 6], [2, 3], [[1, 2]]],
    ],
    [
      `select {a: 1, b: 'x'}.a, struct_pack(a := 1).a, row(1, 2)[1], struct_extract({a: 5}, 'a'), map {'k':
        1}['k'], map_keys(map {'k': 1}), map([1], [2])[1], cardinality(map {1: 1})`,
      [1, 1, 1, 5, 1, ['k'], 2, 1],
    ],
    [
      `select note::json -> 'k', note::json ->> 'k', json_extract(note, '$.k[0]'), json_extract_string(note,
        '$.k[1]'), json_array_length(note, '$.k'), json_valid(note), json_type(note), json_keys(note) from data
        where id = 4`,
      [[1, 2], '[1,2]', 1, '2', 2, true, 'OBJECT', ['k']],
    ],
    [
      `select to_json({a: 1}), json_object('a', 1), json_array(1, 'x'), json_group_array(id),
        from_json('{"a": 1}', '{"a": "INTEGER"}').a from data`,
      [{ a: 1 }, { a: 1 }, [1, 'x'], [1, 2, 3, 4], 1],
    ],
    [
      'select list(id order by id), array_agg(region order by id), count(distinct region) from data',
      [[1, 2, 3, 4], ['EU', 'US', 'EU', 'APAC'], 3],
    ],
    [
      `select (select max(price) from data), exists (from data where id > 3), 2 in (select id from data), 1 =
        any (select id from data), 0 < all (select id from data)`,
      [99, true, true, true, true],
    ],
  ] as const)('%s', async (text, values) => {
    expect(await query(text)).toEqual([values]);
  });

  test.each([
    [
      'select region, sum(amount) as total from data group by region having count(*) > 1 order by total desc limit 1',
      [['EU', 5]],
    ],
    [
      `select id, row_number() over (partition by region order by id), rank() over (order by region), lag(id)
        over (order by id) from data where region = 'EU' order by id`,
      [
        [1, 1, 1, null],
        [3, 2, 1, 1],
      ],
    ],
    [
      `select id, sum(amount) over (order by id rows between 1 preceding and current row), first_value(id) over
        w, ntile(2) over w from data window w as (order by id) order by id limit 2`,
      [
        [1, 2, 1, 1],
        [2, 3, 1, 1],
      ],
    ],
    [
      'select id from data qualify row_number() over (partition by region order by price desc) = 1 order by id',
      [[2], [3], [4]],
    ],
    [
      `select region, paid, grouping(paid), count(*) from data where region = 'EU' group by grouping sets
        ((region, paid), (region)) order by all`,
      [
        ['EU', true, 0, 2],
        ['EU', null, 1, 2],
      ],
    ],
    [
      "select region, sum(amount) from data where region = 'EU' group by rollup (region) order by all",
      [
        ['EU', 5],
        [null, 5],
      ],
    ],
    [
      `with t as (select region, sum(price) as p from data group by all) select region from t where p > (select
        avg(p) from t) order by all`,
      [['EU'], ['US']],
    ],
    ['select a.id, b.id from data a join data b on a.region = b.region and a.id < b.id', [[1, 3]]],
    [
      'select a.id from data a left join data b using (id) anti join (select 1 as id) c using (id) order by all',
      [[2], [3], [4]],
    ],
    ['select a.id, b.id from data a asof join data b on a.day > b.day where a.id = 3', [[3, 2]]],
    ["select * from (values (1, 'a'), (2, 'b')) as t(n, s) where n = 2", [[2, 'b']]],
    ['select unnest([1, 2]) as n', [[1], [2]]],
    ['select unnest({a: 1, b: 2})', [[1, 2]]],
    ['from range(3)', [[0], [1], [2]]],
    [
      "select * from generate_series(date '2024-01-01', date '2024-01-02', interval 1 day) as t(d)",
      [['2024-01-01T00:00:00.000Z'], ['2024-01-02T00:00:00.000Z']],
    ],
    ['select key, value from json_each(\'{"a": 1}\')', [['a', 1]]],
    ["select j.value from data, json_each(note, '$.k') j where data.id = 4", [[1], [2]]],
    [
      "select id, word from data, unnest(string_split(note, ' ')) as t(word) where id = 1",
      [
        [1, 'red'],
        [1, 'wood'],
      ],
    ],
    ["select regexp_split_to_table('a-b', '-')", [['a'], ['b']]],
    [
      'pivot (select region, paid, amount from data) on paid in (true, false) using sum(amount) group by region order by region',
      [
        ['APAC', null, null],
        ['EU', 5, null],
        ['US', null, 1],
      ],
    ],
    [
      'from (select id, amount, price from data where id < 3) unpivot (value for name in (amount, price)) order by all',
      [
        [1, 'amount', 2],
        [1, 'price', 9.5],
        [2, 'amount', 1],
        [2, 'price', 99],
      ],
    ],
    ['unpivot (select id, amount from data where id = 1) on amount', [[1, 'amount', 2]]],
    ["select columns('^(id|region)$') from data where id = 1", [[1, 'EU']]],
    [
      'select * exclude (note, moment, day) replace (upper(product) as product) from data where id = 1',
      [[1, 'EU', 'CHAIR', 2, 9.5, true]],
    ],
    ["select min(columns(c -> c in ('id', 'amount'))) from data", [[1, 1]]],
    ["select id from data where region = 'EU' union select 9 except select 1 order by all", [[3], [9]]],
    [
      'select distinct on (region) region, id from data order by region, id',
      [
        ['APAC', 4],
        ['EU', 1],
        ['US', 2],
      ],
    ],
    ["select product collate nocase as p from data where product collate nocase = 'CHAIR'", [['chair']]],
    [
      'with recursive d(n) as (select 1 union all select n * 2 from d where n < 5) select n from d',
      [[1], [2], [4], [8]],
    ],
    ['select id from data using sample 100 percent (bernoulli) order by id limit 1', [[1]]],
  ] as const)('%s', async (text, rows) => {
    expect(await query(text)).toEqual(rows);
  });
});
