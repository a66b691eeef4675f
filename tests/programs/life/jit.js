// Hot functions, strings, buffers, regular expressions and a sort. Argument: how many rounds.
const rounds = Number(process.argv[2]);
const table = new Map();
let sum = 0;
for (let i = 0; i < rounds; ++i) {
  table.set('key' + (i % 1000), { value: i, list: [i, i + 1] });
  sum += table.get('key' + ((i * 7) % 1000))?.list.length ?? 0;
  if (i % 100 === 0) sum += Buffer.alloc(64 + (i % 3000)).length + /(\d+)/.exec('a' + i)[1].length;
}
const text = JSON.stringify([...table.entries()].sort((a, b) => a[1].value - b[1].value));
console.log(sum, JSON.parse(text).length, text.length);
