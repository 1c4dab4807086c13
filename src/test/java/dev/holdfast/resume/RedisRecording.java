package dev.holdfast.resume;

import dev.holdfast.testing.RedisFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The data of a Redis as a file: one command per line, with tabs between the words. Unlike {@code
 * DUMP}, every version of Redis understands it, and people can read it. The first line holds the
 * time of the recording in ms since the epoch.
 */
final class RedisRecording {

  private static final Pattern ENTRY_ID = Pattern.compile("\\d{13}-\\d+");
  private static final Pattern MILLIS = Pattern.compile("(?<!\\d)\\d{13}(?!\\d)");

  /** Other numbers of 13 digits are no times. */
  private static final long DAYS = 30L * 24 * 60 * 60 * 1000;

  private RedisRecording() {}

  /** Writes all keys of a server to a file. */
  static void write(RedisFixture redis, Path file) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add(Long.toString(System.currentTimeMillis()));
    for (String key : redis.keys().stream().sorted().toList()) {
      commands(redis, key).forEach(words -> lines.add(line(words)));
      String left = redis.command("PTTL", key).substring(1);
      if (!left.startsWith("-")) {
        lines.add(line(List.of("PEXPIRE", key, left)));
      }
    }
    Files.write(file, lines);
  }

  private static String line(List<String> words) {
    if (words.stream().anyMatch(word -> word.matches("(?s).*[\t\r\n].*"))) {
      throw new IllegalArgumentException("a value has tabs or ends of lines: " + words);
    }
    return String.join("\t", words);
  }

  /** The commands that create a key. */
  private static List<List<String>> commands(RedisFixture redis, String key) {
    String type = redis.command("TYPE", key).substring(1);
    return switch (type) {
      case "string" -> List.of(with(List.of("SET", key), redis.reply("GET", key)));
      case "hash" -> pairs(with(List.of("HSET", key)), redis.reply("HGETALL", key), false);
      case "zset" ->
          pairs(
              with(List.of("ZADD", key)),
              redis.reply("ZRANGE", key, "0", "-1", "WITHSCORES"),
              true);
      case "set" -> List.of(with(List.of("SADD", key), redis.reply("SMEMBERS", key)));
      case "stream" -> entries(key, redis.reply("XRANGE", key, "-", "+"));
      default -> throw new IllegalStateException("unknown type of " + key + ": " + type);
    };
  }

  private static List<String> with(List<String> words, String... more) {
    return with(words, List.of(more));
  }

  private static List<String> with(List<String> words, List<String> more) {
    List<String> all = new ArrayList<>(words);
    all.addAll(more);
    return all;
  }

  /** One command for each pair in the reply; ZADD takes the score before the member. */
  private static List<List<String>> pairs(List<String> start, List<String> reply, boolean swap) {
    List<List<String>> commands = new ArrayList<>();
    for (int i = 0; i + 1 < reply.size(); i += 2) {
      List<String> pair = new ArrayList<>(reply.subList(i, i + 2));
      if (swap) {
        Collections.reverse(pair);
      }
      commands.add(with(start, pair));
    }
    return commands;
  }

  /** One XADD for each entry. No field is named like the id of an entry. */
  private static List<List<String>> entries(String key, List<String> reply) {
    List<List<String>> commands = new ArrayList<>();
    for (int i = 0; i < reply.size(); ) {
      List<String> command = with(List.of("XADD", key), reply.get(i++));
      while (i < reply.size() && !ENTRY_ID.matcher(reply.get(i)).matches()) {
        command.add(reply.get(i++));
        command.add(reply.get(i++));
      }
      commands.add(command);
    }
    return commands;
  }

  /** Runs the commands of a file, with all times moved as if the recording had ended just now. */
  static void load(List<String> lines, RedisFixture redis) {
    long recorded = Long.parseLong(lines.getFirst());
    long shift = System.currentTimeMillis() - recorded;
    for (String line : lines.subList(1, lines.size())) {
      String moved =
          MILLIS
              .matcher(line)
              .replaceAll(time -> {
                long millis = Long.parseLong(time.group());
                return Long.toString(Math.abs(millis - recorded) < DAYS ? millis + shift : millis);
              });
      String reply = redis.command(moved.split("\t", -1));
      if (reply.startsWith("-")) {
        throw new IllegalStateException(reply + " to " + line);
      }
    }
  }
}
