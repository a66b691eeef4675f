-- Tables, indexes, triggers, views, transactions that are rolled back, windows, recursion.
pragma foreign_keys = on;
create table city(id integer primary key, name text unique, size integer);
create table person(id integer primary key, name text, city integer references city on delete cascade);
create table log(what text, person integer);
create index by_city on person(city, name);
create trigger noted after delete on person begin insert into log values('gone', old.id); end;
create view crowded as select city, count(*) as people from person group by city having people > 20;

with recursive n(i) as (select 1 union all select i + 1 from n where i < 400)
  insert into city select i, 'city ' || hex(i * 7919 % 4001) || '-' || i, i * 37 % 1000 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < @rows)
  insert into person select i, printf('%s-%05d', char(97 + i % 26), i * 7919 % 100003), 1 + i * i % 400 from n;
select count(*), sum(people) from crowded;

begin;
delete from city where id % 7 = 3;
savepoint half;
update person set name = upper(name) where id % 3 = 0;
rollback to half;
update person set name = replace(name, '-', '/') where id % 5 = 0;
commit;
select what, count(*) from log group by what;
begin; delete from person; select count(*) from person; rollback;

select city, name, rank from (select city, name, row_number() over w as place, rank() over w as rank
  from person window w as (partition by city order by substr(name, 3), id)) where place <= 2 order by city limit 40;
select id, sum(size) over (order by id rows between 3 preceding and 2 following) from city limit 30;
select c.name, group_concat(p.name, ' ') from city c join person p on p.city = c.id
  where c.id < 12 group by c.id order by c.id;
with recursive reach(id, far) as (select 1, 0 union select (id * 3 + 1) % 399 + 1, far + 1 from reach where far < 60)
  select count(distinct id), max(far) from reach;
select name from person where name in (select name from person except select upper(name) from person)
  order by name desc limit 20;
create table wide as select p.*, c.size, c.name as city_name from person p left join city c on c.id = p.city;
create index wide_size on wide(size desc, city_name);
analyze;
explain query plan select * from wide where size > 500 order by city_name;
select size, count(*) from wide where size > 900 group by size order by 2 desc, 1 limit 15;
alter table wide add column extra text default 'none';
drop index wide_size;
alter table wide drop column city_name;
drop index by_city;
vacuum;
reindex;
pragma integrity_check;
