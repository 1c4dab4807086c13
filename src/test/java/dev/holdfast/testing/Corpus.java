package dev.holdfast.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.AnnotationConsumer;
import org.junit.jupiter.params.support.ParameterDeclarations;

/**
 * Runs a fuzz test with a corpus and some random inputs. When Jazzer fuzzes, these are its seeds.
 *
 * <p>A corpus is a file in {@code src/test/resources/fuzz}, with one input on each line. Bytes
 * other than printable ASCII are written with the escapes of Java strings; those past 0x7F are
 * octal.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ArgumentsSource(Corpus.Inputs.class)
public @interface Corpus {

  /** Name of the file without its ending. */
  String value();

  /** Reads a corpus for JUnit, and for tests that Jazzer cannot run. */
  final class Inputs implements ArgumentsProvider, AnnotationConsumer<Corpus> {

    private static final int RANDOM = 100;

    private @Nullable String name;

    @Override
    public void accept(Corpus corpus) {
      name = corpus.value();
    }

    @Override
    public Stream<? extends Arguments> provideArguments(
        ParameterDeclarations parameters, ExtensionContext context) {
      return withRandom(Objects.requireNonNull(name), RANDOM).map(Arguments::of);
    }

    /**
     * Gives the corpus, and then as many random inputs: joined parts of the corpus with a random
     * byte between them. They are the same in each run.
     */
    public static Stream<byte[]> withRandom(String name, int number) {
      List<byte[]> corpus = read(name);
      Random random = new Random(1);
      return Stream.concat(
          corpus.stream(), Stream.generate(() -> joined(corpus, random)).limit(number));
    }

    private static byte[] joined(List<byte[]> corpus, Random random) {
      byte[] head = corpus.get(random.nextInt(corpus.size()));
      byte[] tail = corpus.get(random.nextInt(corpus.size()));
      int from = random.nextInt(tail.length + 1);
      int at = random.nextInt(head.length + 1);
      byte[] joined = Arrays.copyOf(head, at + 1 + tail.length - from);
      joined[at] = (byte) random.nextInt();
      System.arraycopy(tail, from, joined, at + 1, tail.length - from);
      return joined;
    }

    private static List<byte[]> read(String name) {
      String file = "/fuzz/" + name + ".txt";
      try (InputStream in = Corpus.class.getResourceAsStream(file)) {
        String text = new String(Objects.requireNonNull(in, file).readAllBytes(), ISO_8859_1);
        return text.lines().map(line -> line.translateEscapes().getBytes(ISO_8859_1)).toList();
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      }
    }
  }
}
