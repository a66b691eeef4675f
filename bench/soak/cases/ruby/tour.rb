# Fibers, threads, text, numbers, classes made at run time, collections and, where asked for, forks.
require "digest"
require "erb"
require "fiber"
require "json"
require "ripper"
require "set"
require "stringio"
require "strscan"
require "zlib"

times = Integer(ARGV[0])
forks = ARGV[1] == "forks"
srand 42
say = ->(name, value) { puts "#{name} #{Digest::SHA1.hexdigest(value.to_s)}" }

times.times do |round|
  fibers = Array.new(50) do |n|
    Fiber.new do
      10.times { |i| Fiber.yield(("f%d" % n) * (i + 1)) }
      n.to_s
    end
  end
  say["fibers", fibers.map { |f| text = +""; text << f.resume while f.alive?; text }]

  threads = Array.new(4) do |n|
    Thread.new { (1..2000).each_with_object({}) { |i, all| (all["#{n}-#{i % 97}"] ||= []) << i * n } }
  end
  say["threads", threads.map(&:value)]

  data = (1..800).map { |i| { "id" => i, "name" => "n" * (i % 40), "tags" => [i, i.to_s, nil, i / 3.0] } }
  say["json", JSON.pretty_generate(JSON.parse(JSON.generate(data)))]
  say["bignum", (1..300).reduce(:*) ** 3 % (7**301) + 3**(500 + round)]
  say["scan", StringScanner.new("key=1;other=22;" * 500).then { |s| out = []; out << [s.scan(/\w+/), s.skip(/=/), s.scan(/\d+/), s.skip(/;/)] until s.eos?; out }]
  say["sorted", data.sort_by { |d| [-d["name"].size, d["id"] % 7, d["id"]] }.map { |d| d["id"] }]
  say["sets", (1..3000).to_set.select { |i| (i * i) % 11 == round % 11 }.to_a]

  classes = Array.new(100) do |n|
    Class.new do
      define_method(:"value#{n}") { |x| x * n }
      define_method(:respond_to_missing?) { |*| true }
      define_method(:method_missing) { |name, *args| "#{name}#{args}" }
    end
  end
  say["classes", classes.each_with_index.map { |c, n| [c.new.send(:"value#{n}", round), c.new.nothing(n)] }]
  say["errors", (1..200).map { |i| Integer("x#{i}") rescue $!.message }]
  say["throw", (1..200).map { |i| catch(:out) { [1, 2].each { |x| throw :out, x * i } } }]
  say["erb", ERB.new("<% 200.times do |i| %><%= i %>,<%= 'x' * (i % 9) %>\n<% end %>").result]
  say["ripper", Ripper.sexp(File.read(__FILE__))]
  say["zlib", Zlib::Inflate.inflate(Zlib::Deflate.deflate(data.to_s, 9)).size]
  say["marshal", Marshal.load(Marshal.dump(data)) == data]
  GC.start
  GC.compact if GC.respond_to?(:compact) && round.even?

  next unless forks
  answers = Array.new(3) do |n|
    reader, writer = IO.pipe
    pid = fork do
      reader.close
      Thread.new { writer.write((1..5000).map { |i| (i * n).to_s }.join.hash.class, "#{n}" * 100) }.join
      exit!(0) if n == 1
    end
    writer.close
    text = reader.read
    Process.wait(pid)
    [text, $?.exitstatus]
  end
  say["forks", answers]
  say["child", `#{RbConfig.ruby} --disable-gems -e 'puts (1..1000).map { |i| i.to_s * 3 }.join.size'`]
end
