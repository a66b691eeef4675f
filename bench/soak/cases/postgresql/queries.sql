-- Queries whose results are the same in every run.
select count(*), sum(delta) from pgbench_history;
select sum(abalance), md5(string_agg(aid || ':' || abalance, ',' order by aid)) from pgbench_accounts;
select sum(tbalance) from pgbench_tellers;
select sum(bbalance) from pgbench_branches;
select letter, sum from sums order by 1;
select md5(string_agg(word, ',' order by word, id)) from heavy;
with recursive up as (
  select id, parent, name, 1 as depth from tree where id > 4900
  union all
  select t.id, t.parent, up.name || '/' || t.name, depth + 1 from tree t join up on t.id = up.parent
)
select depth, count(*), md5(string_agg(name, ',' order by name)) from up group by depth order by 1;
select id, rank() over w, lag(word, 3) over w, sum(weight) over (partition by left(word, 1) order by id)
from words where id % 3000 < 3 window w as (order by weight, id) order by id;
select count(*) from words where tags @> array['c', '8'];
select count(*), sum((note ->> 'id')::int) from words where note @> '{"even": true}';
select word, count(*) from words where word like 'ab%' group by rollup (word) order by 1, 2 limit 40;
select part, count(*) from (select left(word, 2) as part from words where id % 5 = 0) a
join (select left(reverse(word), 2) as part from words) b using (part) group by 1 order by 2 desc, 1 limit 20;
select md5(string_agg(what || old || new, ';' order by id)) from log;
select regexp_replace(word, '([0-9]+)([a-f])', '\2\1', 'g') from words where id % 3000 = 5 order by id;
select percentile_cont(0.5) within group (order by weight), mode() within group (order by weight) from words;
select xmlelement(name row, xmlattributes(id as id), word) from words where id < 10 order by id;
select to_tsvector('english', string_agg(word, ' ' order by id)) @@ to_tsquery('a | b') from words where id < 2000;
select factorial(40), 2 ^ 0.5, exp(1::numeric(50, 40)), sum(1 / weight::numeric) from words where weight > 0;
select md5(json_agg(w order by id)::text) from words w where id % 5 = 0;
