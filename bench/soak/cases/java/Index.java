import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.Deflater;

/** An index of words that C++ keeps; each thread has its own, and one frees those of all. */
public final class Index {
    static { System.loadLibrary("index"); }

    private static native long create();
    private static native void add(long index, String word, int place);
    private static native int[] places(long index, String word);
    private static native String longest(long index, int count);
    private static native ByteBuffer packed(long index);
    private static native void refuse(long index, String why);
    private static native void drop(long index);
    private static native void release(ByteBuffer buffer);

    private static String work(int seed, List<Long> made) throws Exception {
        long index = create();
        int state = seed;
        for (int at = 0; at < 6000; ++at) {
            state = state * 1103515245 + 12345;
            add(index, Integer.toString((state >>> 12) % 3000, 36).repeat(1 + at % 5), at);
        }
        StringBuilder text = new StringBuilder();
        for (int word = 0; word < 3000; word += 3)
            text.append(IntStream.of(places(index, Integer.toString(word, 36))).sum()).append(',');
        text.append(longest(index, 50));
        ByteBuffer buffer = packed(index);
        byte[] bytes = new byte[buffer.capacity()];
        buffer.get(bytes);
        release(buffer);
        Deflater deflater = new Deflater();
        deflater.setInput(bytes);
        deflater.finish();
        text.append(deflater.deflate(new byte[2 * bytes.length + 64]));
        deflater.end();
        for (int i = 0; i < 50; ++i) {
            try {
                refuse(index, "reason " + i);
            } catch (IllegalStateException expected) {
                text.append(expected.getMessage());
            }
        }
        synchronized (made) {
            made.add(index);
        }
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.toString().getBytes("UTF-8"));
        return HexFormat.of().formatHex(digest);
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        for (int round = 0; round < rounds; ++round) {
            List<Long> made = new ArrayList<>();
            ExecutorService threads = Executors.newFixedThreadPool(6);
            List<Callable<String>> tasks = new ArrayList<>();
            for (int task = 0; task < 8; ++task) {
                int seed = round * 100 + task;
                tasks.add(() -> work(seed, made));
            }
            for (Future<String> result : threads.invokeAll(tasks)) System.out.println(result.get());
            threads.shutdown();
            for (long index : made) drop(index);
            TreeMap<Integer, List<Integer>> groups = IntStream.range(0, 20000).boxed()
                .collect(Collectors.groupingBy(i -> i * 31 % 97, TreeMap::new, Collectors.toList()));
            System.out.println(groups.hashCode());
            if (round % 8 == 0) System.gc();
        }
        Process child = new ProcessBuilder("sort", "-r").start();
        try (var input = child.getOutputStream()) {
            input.write("a\nc\nb\n".getBytes());
        }
        System.out.print(new String(child.getInputStream().readAllBytes()));
        System.out.println(child.waitFor());
    }
}
