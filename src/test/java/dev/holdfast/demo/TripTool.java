package dev.holdfast.demo;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.holdfast.upstream.local.Client;
import dev.holdfast.upstream.local.LogLevel;
import dev.holdfast.upstream.local.Tool;
import dev.holdfast.upstream.local.ToolCall;
import dev.holdfast.upstream.local.ToolResult;
import io.quarkus.runtime.annotations.RegisterForReflection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Plans a trip. */
@ApplicationScoped
public class TripTool implements Tool<TripTool.Plan> {

  /** The arguments. */
  @RegisterForReflection
  public record Plan(
      @JsonPropertyDescription("The places to visit, in order.") @Size(min = 2, max = 20)
          List<String> places,
      @JsonProperty(defaultValue = "1") @Min(1) @Max(9) int travellers,
      @Nullable String comment) {}

  /** The result. */
  @RegisterForReflection
  public record Trip(int legs, int price) {}

  /** The form for a person. */
  @RegisterForReflection
  public record Consent(@JsonPropertyDescription("Shall we book?") boolean book) {}

  @Override
  public String name() {
    return "trip";
  }

  @Override
  public String description() {
    return "Plans a trip and books it.";
  }

  @Override
  public Class<Plan> arguments() {
    return Plan.class;
  }

  @Override
  public Optional<Class<? extends Record>> result() {
    return Optional.of(Trip.class);
  }

  @Override
  public ToolResult call(Plan plan, ToolCall call) throws InterruptedException {
    int legs = plan.places().size() - 1;
    for (int leg = 1; leg <= legs; leg++) {
      call.log(LogLevel.DEBUG, "trip", "to " + plan.places().get(leg));
      call.progress(leg, (double) legs, plan.places().get(leg));
    }
    Trip trip = new Trip(legs, 10 * legs * plan.travellers());
    if (call.client().capabilities().elicitation() && !agreed(trip, call)) {
      return ToolResult.error("Nothing was booked: the traveller did not agree.");
    }
    return ToolResult.of(trip);
  }

  private static boolean agreed(Trip trip, ToolCall call) throws InterruptedException {
    String question = "That would be " + trip.price() + ".";
    return switch (call.client().elicit(question, Consent.class, Duration.ofMinutes(5))) {
      case Client.ElicitationResult.Accept<Consent>(Consent consent) -> consent.book();
      case Client.ElicitationResult.Decline<Consent> _ -> false;
      case Client.ElicitationResult.Cancel<Consent> _ -> false;
    };
  }
}
