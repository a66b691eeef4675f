"""Makes SQL scripts that fill, index, update and query an in-memory database."""

from __future__ import annotations

import random

from common import words, write_roles

SCHEMA = """
create table person(id integer primary key, name text, city integer);
create table purchase(id integer primary key, person integer, item integer, price real, note text);
create index by_city on person(city);
create index by_person on purchase(person);
create index by_item on purchase(item, price);
"""
QUERIES = """
select city, count(*), round(sum(price), 2) from person join purchase on purchase.person = person.id
  group by city order by 3 desc limit 20;
update purchase set price = price * 1.1 where item % 7 = 3;
select item, group_concat(distinct substr(note, 1, 3)) from purchase where item < 40 group by item;
select count(*), round(avg(price), 3) from purchase where note like '%ra%';
with recursive tree(id, depth) as (select 1, 0 union all
  select id * 2, depth + 1 from tree where depth < 14)
  select depth, name from tree join person using(id);
delete from purchase where person % 5 = 1;
select name, round(max(price), 2) from person left join purchase on purchase.person = person.id
  group by name order by 2 desc, 1 limit 20;
"""


def script(rng: random.Random, people: int) -> str:
    lines = [SCHEMA, "begin;"]
    for number in range(1, people + 1):
        name, city = words(rng, 2), rng.randrange(300)
        lines.append(f"insert into person values({number}, '{name}', {city});")
        for _ in range(rng.randint(1, 4)):
            values = f"{number}, {rng.randrange(2000)}, {rng.randrange(1, 9999) / 100}"
            lines.append(
                f"insert into purchase(person, item, price, note) values({values},"
                f" '{words(rng, 3)}');"
            )
    return "\n".join([*lines, "commit;", QUERIES])


if __name__ == "__main__":
    write_roles("sqlite", "sql", script, 22_000, 70_000)
