package dev.holdfast.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where results go, and what is said to people about them.
 *
 * @param results stdout: nothing but what was asked for
 * @param remarks stderr
 */
record Output(PrintStream results, PrintStream remarks) {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** That of the process. Whatever else is printed on stdout goes to stderr from now on. */
  static Output ofProcess() {
    PrintStream results = stream(FileDescriptor.out);
    PrintStream remarks = stream(FileDescriptor.err);
    System.setOut(remarks);
    return new Output(results, remarks);
  }

  private static PrintStream stream(FileDescriptor file) {
    return new PrintStream(new BufferedOutputStream(new FileOutputStream(file)), true, UTF_8);
  }

  /** A line of the result. */
  void line(String text) {
    results.println(text);
    results.flush();
  }

  /** A line of the result for scripts. */
  void json(Map<String, ? extends @Nullable Object> object) {
    try {
      line(JSON.writeValueAsString(object));
    } catch (JsonProcessingException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** Something that is no result. */
  void remark(String text) {
    remarks.println(text);
    remarks.flush();
  }
}
