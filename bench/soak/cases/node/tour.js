// Worker threads, buffers, compression, hashes, streams, collections, regular expressions, timers.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const vm = require('vm');
const zlib = require('zlib');
const { Readable, Transform, pipeline } = require('stream');
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { promisify } = require('util');

const hash = (data) => crypto.createHash('sha256').update(data).digest('hex').slice(0, 16);

function randomNumbers(seed) {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) & 0x7fffffff);
}

function tree(next, depth) {
  if (depth === 0) return { leaf: next() % 1000, text: 'x'.repeat(next() % 40) };
  return Object.fromEntries([1, 2, 3, 4].map((at) => ['child' + at, tree(next, depth - 1)]));
}

function collections(seed) {
  const next = randomNumbers(seed);
  const words = new Map();
  for (let at = 0; at < 40000; ++at) {
    const key = (next() % 5000).toString(36);
    if (!words.has(key)) words.set(key, new Set());
    words.get(key).add(next() % 100);
  }
  const sorted = [...words].sort((a, b) => b[1].size - a[1].size || (a[0] < b[0] ? -1 : 1));
  const text = sorted.map(([key, seen]) => key + ':' + [...seen].join('-')).join('\n');
  return hash(text.replace(/(\d+)-(\d+)/g, '$2/$1').normalize('NFD').toUpperCase());
}

function buffers(seed) {
  const next = randomNumbers(seed);
  const parts = [];
  for (let at = 0; at < 3000; ++at) parts.push(Buffer.alloc(next() % 3000, at % 251));
  const whole = Buffer.concat(parts);
  const packed = zlib.gzipSync(whole, { level: 1 + (seed % 9) });
  const brotli = zlib.brotliCompressSync(whole.subarray(0, 200000), {
    params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 },
  });
  const same = zlib.gunzipSync(packed).equals(whole);
  return [same, hash(zlib.brotliDecompressSync(brotli)), hash(whole.toString('base64'))].join(' ');
}

function work(seed) {
  const structure = tree(randomNumbers(seed), 5);
  const copy = structuredClone(JSON.parse(JSON.stringify(structure)));
  return [collections(seed), buffers(seed), hash(JSON.stringify(copy))].join(' ');
}

if (!isMainThread) {
  parentPort.postMessage(work(workerData));
  return;
}

function inWorker(seed) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(__filename, { workerData: seed });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function streams(lines) {
  const upper = new Transform({
    transform(chunk, _, done) {
      setImmediate(done, null, chunk.toString().toUpperCase());
    },
  });
  const source = Readable.from((function* () {
    for (let at = 0; at < lines; ++at) yield `line ${at} ${'y'.repeat(at % 70)}\n`;
  })());
  const file = fs.createWriteStream('streamed.gz');
  await promisify(pipeline)(source, upper, zlib.createGzip(), file);
  return hash(zlib.gunzipSync(fs.readFileSync('streamed.gz')));
}

async function main(times) {
  for (let round = 1; round <= times; ++round) {
    const found = await Promise.all([inWorker(round), inWorker(round + 100), streams(500 * times)]);
    console.log(found.join('\n'), work(round + 200));
    const key = await promisify(crypto.scrypt)('secret', 'salt' + round, 32, { N: 1024 });
    console.log(key.toString('hex').slice(0, 16));
    for (let at = 0; at < 5; ++at) {
      console.log(vm.runInNewContext(`[...Array(2000).keys()].map((x) => x * ${at}).join('')`).length);
    }
  }
}

main(Number(process.argv[2]));
