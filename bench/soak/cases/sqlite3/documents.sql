-- Full text, JSON, big values, dates, and text functions.
create virtual table words using fts5(title, body);
with recursive n(i) as (select 1 union all select i + 1 from n where i < @rows / 8)
  insert into words select 'note ' || i, (with recursive w(k, t) as (select 0, '' union all
    select k + 1, t || substr('alpha beta gamma delta epsilon zeta eta theta iota kappa', 1 + (i * 31 + k * 17) % 45, 6) || ' '
    from w where k < 12) select t from w where k = 12) from n;
select count(*) from words where words match 'alpha OR kappa';
select title, snippet(words, 1, '[', ']', '..', 6) from words where words match 'gamma NOT beta' order by rank, rowid limit 12;
insert into words(words) values('optimize');
delete from words where rowid % 3 = 0;
select count(*), sum(length(body)) from words;

create table document(id integer primary key, content text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < @rows / 4)
  insert into document select i, json_object('id', i, 'tags', json_array(i % 7, i % 11, 'tag' || i % 13),
    'deep', json_object('a', json_object('b', json_array(1, 2, i)))) from n;
update document set content = json_set(content, '$.deep.a.c', hex(id), '$.tags[#]', 'more') where id % 4 = 1;
select json_extract(content, '$.tags[2]') as tag, count(*) from document group by tag order by tag;
select value, count(*) from document, json_each(document.content, '$.tags') group by value order by 2 desc, 1 limit 20;
select json_group_array(json_extract(content, '$.deep.a.b[2]')) from document where id < 60;
select sum(length(json_patch(content, '{"deep":null,"new":[1,2,{"x":true}]}'))) from document;

create table big(id integer primary key, content blob);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 40)
  insert into big select i, zeroblob(i * 4001) from n;
select sum(length(content)), sum(length(hex(content))) from big;
update big set content = substr(content, 1, length(content) / 2) || replace(hex(substr(content, 1, 2000)), '00', char(65 + id % 20));
select id, length(content), instr(content, 'A') from big where id % 9 = 0;
select date('2000-01-01', '+' || id || ' days'), strftime('%W %j', '2001-01-01', '-' || id || ' hours') from big limit 12;
select printf('%08.3f|%-10s|%+d|%x', id / 3.0, 'x' || id, id - 20, id * 4096) from big;
pragma integrity_check;
