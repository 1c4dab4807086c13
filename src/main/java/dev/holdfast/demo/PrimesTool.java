package dev.holdfast.demo;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.util.Optional;

/** Keeps a processor busy, for trying whether other calls wait. */
@ApplicationScoped
public class PrimesTool implements Tool<PrimesTool.Arguments> {

  private static final int STEPS = 100;

  /** The range of the search. */
  @RegisterForReflection
  public record Arguments(
      @JsonPropertyDescription("The largest number to look at.") @Min(1) @Max(1_000_000_000)
          int upTo) {}

  /** The result of the search. */
  @RegisterForReflection
  public record Primes(
      @JsonPropertyDescription("How many primes there are.") int count,
      @JsonPropertyDescription("The largest of them; 0 if there is none.") int largest) {}

  @Override
  public String name() {
    return "primes";
  }

  @Override
  public String description() {
    return "Counts the primes up to a number, by trying all divisors.";
  }

  @Override
  public Class<Arguments> arguments() {
    return Arguments.class;
  }

  @Override
  public Optional<Class<? extends Record>> result() {
    return Optional.of(Primes.class);
  }

  @Override
  public boolean cpuBound() {
    return true;
  }

  @Override
  public ToolResult call(Arguments arguments, ToolCall call) {
    int count = 0;
    int largest = 0;
    int stride = Math.max(1, arguments.upTo() / STEPS);
    for (int number = 1; number <= arguments.upTo(); number++) {
      call.checkCancelled();
      if (isPrime(number)) {
        count++;
        largest = number;
      }
      if (number % stride == 0) {
        call.progress(number, (double) arguments.upTo(), null);
      }
    }
    return ToolResult.of(new Primes(count, largest));
  }

  private static boolean isPrime(int number) {
    for (int divisor = 2; (long) divisor * divisor <= number; divisor++) {
      if (number % divisor == 0) {
        return false;
      }
    }
    return number > 1;
  }
}
